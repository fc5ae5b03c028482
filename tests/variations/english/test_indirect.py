"""Word order of direct questions, undone: the expected clauses were written by hand."""

import pytest

from shaketable.variations.english.indirect import indirect, tidy

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
        # what is the … asks for the noun.
        ("What is the capital of France?", "noun", "the capital of France"),
        ("what 's the largest cemetery in the united states", "noun", "the largest cemetery in the united states"),
        # Yes or no.
        (
            "Are both Paloalto (Band) and Showbread (Band) from the same country?",
            "clause",
            "whether both Paloalto (Band) and Showbread (Band) are from the same country",
        ),
        ("Did Lewis Allen play Louie De Palma?", "clause", "whether Lewis Allen played Louie De Palma"),
        # A phrase in front goes to the end.
        ("In 2004 how many CDs had been sold?", "clause", "how many CDs had been sold in 2004"),
        # Asked where the answer would stand.
        ("The Robin is a member of which family of birds?", "clause", "which family of birds the Robin is a member of"),
        # Taggers stumble over names without capitals, and over names that look like verbs.
        ("when did tim hortons open in the usa", "clause", "when tim hortons opened in the usa"),
        ("Where did Saw Thanda's husband die?", "clause", "where Saw Thanda's husband died"),
        ("what prison does somerset county contain", "clause", "what prison somerset county contains"),
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
        ("Name the Greek dish of vine leaves.", "command", "name the Greek dish of vine leaves"),
    ],
)
def test_a_question_becomes_a_clause(question, shape, expected):
    turned = indirect(question)
    assert (turned.shape, turned.text) == (shape, expected)


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
