"""Formality by rules: the words of the question change, and what cannot be changed safely is refused."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from real_questions import FILES, FOLDER, lines, needs_data

from shaketable.catalog import build
from shaketable.text.search_terms import terms
from shaketable.types import Question
from shaketable.variations.formality import only_opened

pytestmark = pytest.mark.weights
SEEDS = range(6)


def asked(text, name="q"):
    return Question(id=name, text=text, answers=("x",))


def wordings(text):
    """Accepted, by several seeds, in small letters."""
    made = [
        variant for seed in SEEDS for (variant,) in build("variation", f"formality(seed={seed})").vary([asked(text)])
    ]
    return [variant.text.casefold() for variant in made if variant.rejected is None]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the place of birth of Ann Lee?", r"\bwhere (was ann lee born|ann lee was born)\b"),
        ("Who is the spouse of the director of film Stalker?", r"who's the director of the movie stalker married to\b"),
        ("Who is the paternal grandfather of Ann Lee?", r"who's ann lee's paternal grandfather\b"),
        (
            "Which is in Ohio, Lee College or Ann Hall?",
            r"lee college or ann hall, which one is in ohio|which is in ohio,",
        ),
        (
            "What is the cause of death of director of film The Ear?",
            r"how'?d? .*the director of the (movie|film) the ear",
        ),
        ("In which city was Ann Lee born?", r"\b(which|what) city (was ann lee born|ann lee was born) in\b"),
        ("In what year did Ann Lee retire?", r"\bwhat year\b"),
        ("To whom was Ann Lee married?", r"\bwho (was ann lee married|ann lee was married) to\b"),
        ("Where is Lake Balta located?", r"\bwhere(?:'s| is|) lake balta (?:is )?at\b"),
        ("Which film was released first, Red Dust or Blue Rain?", r"\bmovie came out first\b"),
        (
            "Which film has the director born later, Red Dust or Blue Rain?",
            r"\bwhich movie's director was born later\b",
        ),
        ("Why did Ann Lee leave Rome?", r"\b(how come ann lee left rome|why'd ann lee leave rome)\b"),
        ("What is the largest lake in Norway?", r"\bwhat's the biggest lake in norway\b"),
    ],
)
def test_the_words_of_the_question_change(question, expected):
    made = wordings(question)
    assert made
    assert all(re.search(expected, text) for text in made), made


@pytest.mark.parametrize(
    ("question", "unwanted"),
    [
        ("Who is the director of the National Museum of Norway?", "directed"),
        ("When was Rome founded?", "get started"),
        ("Was the scene shot on tape or on film, Ann Lee asked whom?", "on movie"),
        ("who played the mother in how i met your mother", "mom"),
        ('Who wrote "The film is not over"?', "isn't"),
        ("What is the population of Ann Lee's birthplace?", "born"),
        ("Which of the Great Lakes is the largest?", "what of"),
        ("Who directed E.T.?", "e.t?"),
        ("Which had more soldiers at Balta?", "what had"),
        ("Where did the monks live before they returned in 1731?", "back in"),
        ("In 1931, who ruled Balta until Ann Lee came in 1934?", "back in"),
        ("Which nations fought at Balta?", "countries"),
        ("Who is Ann Lee's paternal grandfather?", "grandpa"),
        ("What is the place of birth of who sings Red Dust?", "where was who"),
        (
            "What singer who won the Lee Prize is Red Dust the album by?",
            "any idea what singer who won the lee prize is",
        ),
        ("Which singer who toured Balta has a man from Rome beaten?", "idea what singer who toured balta has a man"),
    ],
)
def test_what_would_change_the_meaning_stays(question, unwanted):
    assert not [text for text in wordings(question) if unwanted in text]


@pytest.mark.parametrize(
    "question",
    [
        "",
        " ?",
        "Rome",
        "Wer hat das Buch über Rom geschrieben?",
        "Ann Lee was born in Rome. She left it early. Why?",
        "naa peru surya movie release date",
        "where was it came from outer space filmed",
        "What were once known as the third university?",
        "Nice.",
        "when was the movie red dust re released",
        "What Sailors Want, a film by Ann Lee, was shot in which city?",
        'Who sang in the play "Who Is Ann Lee?"',
    ],
)
def test_what_no_rule_is_sure_of_is_refused(question):
    ((variant,),) = build("variation", "formality").vary([asked(question)])
    assert variant.rejected in (
        "no rule applies to this question",
        "it has no words",
        "it does not seem to be English, and the rules know English alone",
    )


def test_an_opening_alone_is_refused():
    assert only_opened("Who directed Jaws?", "Hey there, so, who directed Jaws again?")
    assert not only_opened("Who directed Jaws?", "any idea who directed Jaws?")


def test_a_mild_wording_has_nothing_around_it():
    made = [
        build("variation", f"formality(seed={seed}, strength='mild')").vary([asked("Who is the father of Ann Lee?")])
        for seed in SEEDS
    ]
    assert {variant.text for ((variant,),) in made} == {"Who's Ann Lee's dad?"}


def test_wordings_vary_from_question_to_question():
    questions = [asked(f"Who is the father of Person {i}?", f"q{i}") for i in range(30)]
    made = [variant.text for (variant,) in build("variation", "formality").vary(questions)]
    assert len({re.sub(r"\d+", "", text) for text in made}) > 10
    assert all(text.endswith("?") and "dad" in text for text in made)


@settings(max_examples=60, deadline=None)
@given(st.one_of(st.text(max_size=80), st.text("who is the of in WHAT'\"?.,’é5", max_size=120)))
def test_any_text_gives_a_wording_or_a_reason(text):
    ((variant,),) = build("variation", "formality(min_similarity=0.0)").vary([asked(text)])
    assert variant.rejected or (variant.text.endswith("?") and variant.text != text)


def test_five_hundred_words_are_no_trouble():
    ((variant,),) = build("variation", "formality").vary([asked("Who wrote " + "the long book of " * 125 + "Rome?")])
    assert variant.rejected or variant.text.endswith("?")


@needs_data
@pytest.mark.slow
def test_most_real_questions_get_a_wording_that_changes_what_a_retriever_sees():
    rows = [row for name in FILES for row in lines(FOLDER / name)[:20]]
    questions = [asked(row["question_text"], row["qid"]) for row in rows]
    pairs = [
        (question.text, variant.text)
        for question, (variant,) in zip(questions, build("variation", "formality").vary(questions), strict=True)
        if variant.rejected is None
    ]
    kept = [len(set(terms(before)) & set(terms(after))) / len(set(terms(before))) for before, after in pairs]
    assert len(pairs) >= 0.6 * len(questions)
    assert sum(kept) / len(kept) < 0.92
    assert not [after for before, after in pairs if only_opened(before, after)]
