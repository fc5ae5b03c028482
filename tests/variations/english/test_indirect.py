"""Word order of direct questions, undone: the expected clauses were written by hand."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shaketable.text.language import PIPELINE
from shaketable.variations.english.indirect import framed, indirect, quoted, tidy

pytestmark = pytest.mark.weights


@pytest.mark.parametrize(
    ("question", "shape", "expected"),
    [
        # The question word is the subject: nothing moves.
        ("Who directed Jaws?", "clause", "who directed Jaws"),
        ("Which film was released first, Jaws or Duel?", "clause", "which film was released first, Jaws or Duel"),
        # do, does and did go into the verb, regular or not.
        ("When did Mandela write his book?", "clause", "when Mandela wrote his book"),
        ("What dialect continuum does Macedonian belong to?", "clause", "what dialect continuum Macedonian belongs to"),
        ("when do they stop selling beer in wisconsin", "clause", "when they stop selling beer in wisconsin"),
        # Other auxiliaries go behind their subject.
        ("Where was the composer of the song born?", "clause", "where the composer of the song was born"),
        ("When were the last slaves freed in New York?", "clause", "when the last slaves were freed in New York"),
        ("How many Pentecostals are there in the world?", "clause", "how many Pentecostals there are in the world"),
        ("What color is the tip?", "clause", "what color the tip is"),
        # what is the … asks for the noun, which goes before the verb while it is short.
        ("What is the capital of France?", "clause", "what the capital of France is"),
        (
            "what 's the name of the river that flows through rome",
            "noun",
            "the name of the river that flows through rome",
        ),
        ("When was the last time Rome had snow?", "noun", "the last time Rome had snow"),
        ("What is the river that Rome lies on called?", "whole", "What is the river that Rome lies on called"),
        # Yes or no.
        (
            "Are both Paloalto (Band) and Showbread (Band) from the same country?",
            "clause",
            "whether both Paloalto (Band) and Showbread (Band) are from the same country",
        ),
        ("Did Lewis Allen play Louie De Palma?", "clause", "whether Lewis Allen played Louie De Palma"),
        ("Is Rome a city?", "clause", "whether Rome is a city"),
        # A phrase in front is put between commas, where it can belong to nothing else.
        ("In 2004 how many CDs had been sold?", "clause", "how many CDs, in 2004, had been sold"),
        ("In Roman myth, who was the god of war?", "clause", "who, in Roman myth, was the god of war"),
        # Asked where the answer would stand: the question stays whole.
        ("The Robin is a member of which family?", "whole", "The Robin is a member of which family"),
        # The whole noun goes with its question word, and a preposition stays behind.
        (
            "Which body of water does the island of Capri lie in?",
            "clause",
            "which body of water the island of Capri lies in",
        ),
        ("Who was the first king in the city?", "clause", "who was the first king in the city"),
        # Taggers stumble over names without capitals, and over names that look like verbs.
        ("when did tim hortons open in the usa", "clause", "when tim hortons opened in the usa"),
        ("Where did Saw Thanda's husband die?", "whole", "Where did Saw Thanda's husband die"),
        ("what prison does somerset county contain", "whole", "what prison does somerset county contain"),
        # Which verb is the main one, when a clause inside has its own.
        (
            "When was the company that published Vogue China founded?",
            "clause",
            "when the company that published Vogue China was founded",
        ),
        ("Where was the artist born and raised?", "clause", "where the artist was born and raised"),
        # Words that belong together stay together.
        ('What is a mythological "xana"?', "clause", 'what a mythological "xana" is'),
        (
            "Who is the Vice-President of the organization?",
            "clause",
            "who is the Vice-President of the organization",
        ),
        ("Who does the voice for Bob?", "clause", "who does the voice for Bob"),
        # A verb that two auxiliaries share cannot take both.
        ("To which order does or did he belong?", "whole", "To which order does or did he belong"),
        # Nothing moves out of a relative clause: the question stays whole.
        ("He plays for a team that comes from which city?", "whole", "He plays for a team that comes from which city"),
        # A name in small letters is no adverb, and nobody was died.
        (
            "when was a grain of wheat by ngugi wa thiongo written",
            "clause",
            "when a grain of wheat by ngugi wa thiongo was written",
        ),
        (
            "When was the palace built in the city where Mario Rossi died?",
            "clause",
            "when the palace was built in the city where Mario Rossi died",
        ),
        (
            "Which film starring Sophia Loren is set in Naples?",
            "clause",
            "which film starring Sophia Loren is set in Naples",
        ),
        ("Name the Greek dish of vine leaves.", "command", "name the Greek dish of vine leaves"),
    ],
)
def test_a_question_becomes_a_clause(question, shape, expected):
    turned = indirect(question)
    assert (turned.shape, turned.text) == (shape, expected)


WORDS = re.findall(
    r"\S+",
    """Who what which When where is are was did does do has will the a of in , ? . Rome film born that and called there
    not made king kingdoms 's by to how many Name""",
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))


@given(TEXTS)
@settings(max_examples=200, deadline=None)
def test_any_text_has_a_shape_and_keeps_its_words(text):
    turned = indirect(text)
    assert turned.shape in ("clause", "noun", "command", "whole")
    if turned.shape == "whole":
        assert turned.text == tidy(text).rstrip(" ?.!")
    names = {word for word in re.findall(r"\w+", text) if word in ("Rome", "film", "king", "kingdoms")}
    kept = re.findall(r"\w+", turned.lead + turned.text)
    # After `did` any of them may be read as a verb: `kinged`.
    assert all(any(word.startswith(name) for word in kept) for name in names)


@pytest.mark.parametrize(
    "question",
    [
        "WHO WAS THE KING OF FRANCE?",
        "Where is the town named after Caesar?",
        "How long was Rome at war?",
        "Who was Rome at war with in 1900?",
        "What relation was Romulus to Remus?",
        "Who is the king and what did he build?",
        "When the bridge was new, what was it called?",
        "How many years did the peace deal last?",
        "What was Caesar accused of in the senate?",
        "Are Ben Hur from 1959 and Quo Vadis from 1951 both films?",
        "Which town is it? (hint: it lies on the Tiber)",
        # A title or a line of a song in small letters has a clause of its own.
        "who does the song say nothing i'm coming home to you",
        # A statement that lost its question, a remark behind the question word, a title that opens as questions do.
        "How many thousands of people moved to Rome in 1870 is.",
        "What, according to the census, is Rome ahead of Milan in?",
        "What Women Want, an American comedy film by Nancy Meyers, was released in what year?",
        # An abbreviation keeps its full stop.
        "When were trams common in the U.S.?",
        # The last word may be the verb.
        'In which Roman quarter was "Roman Holiday" shot?',
        # A question phrase with a verb of its own.
        "Which singer who grew up in Milan is Blue Rain the second album by?",
        "What medal won by only three people has a man from Rome won?",
        # One knows a name, a date, a place, not a society.
        "What is the secret society founded and led by Mario Rossi who is a friend of Carlo Bianchi?",
    ],
)
def test_what_could_be_turned_wrongly_stays_whole(question):
    assert indirect(question).shape == "whole"


def test_what_asks_nothing_is_not_framed():
    frames = dict.fromkeys(("clause", "noun", "command", "whole"), ("Say {text}.",))
    assert framed("harbour of rome opening date", PIPELINE, frames, random.Random(0)) == []
    (proposal,) = framed("the harbour was built when?", PIPELINE, frames, random.Random(0))
    assert proposal.text == 'Say "the harbour was built when?".'


def test_a_question_typed_without_a_mark_is_quoted_with_one():
    frames = {"whole": ("Answer: {text}",)}
    (proposal,) = framed("what prison does somerset county contain", PIPELINE, frames, random.Random(0))
    assert proposal.text == 'Answer: "what prison does somerset county contain?"'


def test_sentences_before_the_question_stay_in_front():
    turned = indirect("The band formed in 2015. How many tracks are on the album?")
    assert turned.lead == "The band formed in 2015. "
    assert turned.text == "how many tracks are on the album"


@pytest.mark.parametrize(
    ("text", "lead"),
    [
        ("Mexico has three neighbours. One is the USA. Name another?", "Mexico has three neighbours. One is the USA. "),
        ("Which came later, My Dog Tulip or Monsters vs. Aliens?", ""),
        ("The Earth is approx. A) 30 or B) 40 wide?", ""),
    ],
)
def test_an_abbreviation_ends_no_sentence(text, lead):
    assert indirect(text).lead == lead


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"What is the fate of ""Carmen"" in Bizet\'s opera?"', 'What is the fate of "Carmen" in Bizet\'s opera?'),
        ("who 's in  the\nband ?", "who's in the band?"),
        ('"Lost!" is a song by "Coldplay"', '"Lost!" is a song by "Coldplay"'),
    ],
)
def test_marks_that_files_leave_are_tidied(text, expected):
    assert tidy(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Who?", '"Who?"'),
        ('Who wrote "Emma"?', '“Who wrote "Emma"?”'),
        ('Who wrote "Emma" and “Persuasion”?', 'Who wrote "Emma" and “Persuasion”?'),
    ],
)
def test_quotation_marks_are_never_doubled(text, expected):
    assert quoted(text) == expected
