"""Readability by rules: harder words and clauses, the same question."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from real_questions import mixed, needs_data

from shaketable.catalog import build
from shaketable.types import Question
from shaketable.variations.english import academic
from shaketable.variations.english.reading_ease import reading_ease
from shaketable.variations.readability import Readability

pytestmark = pytest.mark.weights


def proposed(text, **given):
    return [proposal.text for proposal in Readability(**given).wordings(Question(id="q", text=text, answers=("x",)))]


def first(text, **given):
    return proposed(text, **given)[0]


@pytest.mark.parametrize(
    ("question", "wording"),
    [
        ("Who wrote Emma?", "Which individual was responsible for the authorship of Emma?"),
        ("Who was the director of Jaws?", "Which individual was responsible for the direction of Jaws?"),
        ("Who is Homer Simpson's child?", "Which individual is the offspring of Homer Simpson?"),
        (
            "Where was the director of film Jaws born?",
            "In what geographical location did the birth of the director of the motion picture Jaws occur?",
        ),
        ("Where is Mount Kenya located?", "In what geographical locality is Mount Kenya situated?"),
        ("Where are the cones of the eye located?", "In what location are the cones of the eye situated?"),
        ("In what city was Mozart born?", "In which municipality did the birth of Mozart occur?"),
        (
            "Which film has the director who died later, Jaws or Psycho?",
            "Which motion picture was produced under the direction of the individual whose demise occurred at a later "
            "date, Jaws or Psycho?",
        ),
        ("what is the name of the castle in denmark", "what appellation is borne by the castle in denmark?"),
        (
            "Which company bought the band's former label before 1990?",
            "Which commercial enterprise purchased the musical ensemble's erstwhile label prior to 1990?",
        ),
    ],
)
def test_a_question_is_turned_into_nouns_and_passives(question, wording):
    assert wording in proposed(question)


@pytest.mark.parametrize("question", ["Who wrote Emma?", "Where did Mozart die?", "Which city is the capital of Peru?"])
def test_a_mild_wording_changes_words_alone(question):
    strong, mild = proposed(question), proposed(question, strength="mild")
    assert set(mild) <= set(strong)
    assert not any(re.search(r"responsible for|did the demise", text) for text in mild)


def test_another_strength_is_refused():
    with pytest.raises(ValueError, match="strength is 'wild', expected 'mild' or 'strong'"):
        Readability(strength="wild")


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("who wrote the film what's eating gilbert grape", "what's eating gilbert grape"),
        ('Who sang "The song before the war"?', '"The song before the war"'),
        ("Which famous film has the line 'Seven ships of the city'?", "'Seven ships of the city'"),
        ("Who directed The Movie of the City?", "The Movie of the City"),
        ("Who was the composer of Help!?", "Help!?"),
        ("Where was Theodora (wife of Leo) born?", "Theodora (wife of Leo)"),
        ("Which film musical was famous in the city in 1951?", "film musical"),
        ("Where was the crew after ten years?", "after ten years"),
        ("Name the city on the Tiber.", "on the Tiber."),
        ("Which magazine named Fame the film of the year?", "named Fame"),
        ("Which award winning play by the singer is the second work after Emma?", "award winning"),
        ("Which award winning play by the singer is the second work after Emma?", "work after Emma"),
        ("What novel did he write at university before his death in prison?", "in prison"),
        ("Which film was written and directed by Chaplin?", "written and directed by"),
        ('Which film has the song "Who?"', '"Who?"'),
    ],
)
def test_names_titles_and_set_phrases_stay(question, kept):
    made = proposed(question)
    assert made
    assert all(kept in text for text in made)


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("?", "it has no words"),
        ("Who?", "no rule applies to this question"),
        ("WHO WROTE EMMA?", "no rule applies to this question"),
        ("Qui a écrit Madame Bovary ?", "it does not seem to be English, and the rules know English alone"),
        ("富士山の高さは？", "it is not written in Latin letters, and the rules know English alone"),
        ("who was party in the usa written for", "no rule applies to this question"),
    ],
)
def test_a_question_without_a_rule_is_kept_and_not_asked(question, reason):
    ((variant,),) = build("variation", "readability").vary([Question(id="q", text=question, answers=("x",))])
    assert variant.rejected == reason


def test_a_broken_order_is_mended_or_left():
    assert first("Which film whose director is younger, Jaws or Psycho?").startswith(
        "Which motion picture was produced"
    )
    assert proposed("What is the city in the country where he lived?")
    assert not proposed("Which city the author of Emma is known in?")


@pytest.mark.parametrize(
    ("question", "unsaid"),
    [
        ("When does ice float on a lake?", "point in time"),
        ("When do we rely on the moon for light?", "point in time"),
        ("When were periods of drought recorded in Egypt?", "point in time"),
        ("when was the song imagine re released", "release of"),
        ("When was the bridge officially opened and newly built?", "construction of"),
        ("Which book of Ruth is the shortest in the country?", "literary work"),
        ("Which song of Solomon is famous in the country?", "musical composition"),
        ("What is the country of origin of the famous film?", "nation of"),
        ("Who succeeded Churchill as prime minister?", "or group"),
        ("Who won the race to the South Pole?", "or group"),
        ("Who was elected president in 1860?", "or group"),
        ("Which city has a code ending in zero?", "concluding"),
        ("Which famous singer started the nickname?", "commenced"),
        ("What is the party that the city's senators come from?", "originate from"),
        ("How many square miles is Lake Victoria?", "total number"),
        ("How many miles is the moon from the earth?", "total number"),
        ("How many regiments was the northern command?", "total number"),
        ("Where is the place where the swallows sleep?", "location"),
        ("Which city has a film directed by who?", "direction of who"),
        ("Who composed music for the opening of the bridge?", "musical composition"),
        ("Why did he leave most of his book unfinished in the country?", "literary work"),
        ("who does the song goodbye my love say goodbye to", "musical composition"),
        ("Which famous city is best known for its canals?", "renowned for"),
        ("What is the place of birth of the person after whom Lake Ann is named?", "subsequent to"),
        ("who plays bongos on red dust", "portrayal"),
        ("Who performed the first heart transplant?", "recording artist"),
        ("Which king ruled over 3 countries in the city?", "in excess of"),
        ("Who located the wreck of the famous ship?", "situated"),
        ("Who was the first team to reach the final?", "individual"),
        ("Where does the movie about the famous city take place?", "occur"),
    ],
)
def test_a_word_that_would_mean_something_else_is_not_said(question, unsaid):
    assert not any(unsaid in text for text in proposed(question))


@pytest.mark.parametrize(
    ("question", "wording"),
    [
        ("When did the war begin?", "At what point in time did the war begin?"),
        ("When were the pyramids built?", "At what point in time were the pyramids constructed?"),
        ("when was the song imagine re released", "at what point in time was the song imagine re released?"),
        (
            "Who was elected president in 1860?",
            "What is the identity of the individual who was elected president in 1860?",
        ),
        ("Where did the battle take place?", "In what location did the battle occur?"),
        ("How many planets have rings?", "What total number of planets have rings?"),
    ],
)
def test_the_plain_use_of_such_a_word_is_turned(question, wording):
    assert wording in proposed(question)


def test_two_questions_in_one_are_not_turned():
    assert not list(academic.turned("who invented the first radio and what year"))


def test_no_wording_asks_whether_where_the_original_asks_what():
    for question in ("Who wrote Emma?", "When was the city founded?", "How many people live in Rome?"):
        assert not any(re.match(r"(?:is|would|could|might)\b", text, re.I) for text in proposed(question))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=80) | st.text(alphabet="who what the of film X?.,'\"() ", max_size=60))
def test_any_text_gives_wordings_that_differ_or_none(text):
    assert all(made.strip() and made != text for made in proposed(text))


def test_500_words_are_read():
    assert isinstance(proposed("Who wrote " + "the book about " * 250 + "Rome?"), list)


@needs_data
@pytest.mark.slow
def test_most_real_questions_have_a_harder_wording_of_the_same_kind():
    asked = mixed(120)
    made = [variant for (variant,) in build("variation", "readability").vary(asked)]
    accepted = [
        (question.text, variant.text) for question, variant in zip(asked, made, strict=True) if not variant.rejected
    ]
    assert len(accepted) >= 60
    for before, after in accepted:
        assert reading_ease(after) < min(60, reading_ease(before))
        is_yes_no = r"(?:is|are|was|were|did|does|do|has|have|can|could|would)\b"
        assert bool(re.match(is_yes_no, before, re.I)) == bool(
            re.match(is_yes_no, after.split("available, ")[-1], re.I)
        )
