"""Spoken questions: all words of the question stay, and what is said between them is taken back."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaketable.datasets.reading.rows import passage
from shaketable.types import Question
from shaketable.variations.disfluency import Disfluency, spoken
from shaketable.variations.english.insertions import (
    Insertion,
    corrections,
    false_starts,
    fillers,
    repetitions,
)
from shaketable.variations.gate.proposals import Proposal

pytestmark = pytest.mark.weights
WORDS = ("Who", "is", "the", "of", "Jaws", "was", "director", "?", ",", "'", "did", "father")
JAWS = "When was the director of Jaws born?"
FILMS = (
    passage("Jaws (film)", ["Jaws is a 1975 American film directed by Steven Spielberg."]),
    passage("The Birds", ["The Birds is a 1963 film directed by Alfred Hitchcock."]),
    passage("Alfred Hitchcock", ["Alfred Hitchcock was an English film director."]),
)


def asked(text, documents=(), answers=("x",), question_id="q"):
    return Question(id=question_id, text=text, answers=answers, documents=documents)


def said(found, text):
    return {spoken(text, [one]) for one in found}


def test_a_false_start_takes_another_question_word_back():
    made = {
        re.sub(", (?:uh, )?(?:no|wait|I mean|sorry).*?,", " –", one)
        for one in said(false_starts(JAWS, random.Random(0)), JAWS)
    }
    assert made == {
        "Where was – when was the director of Jaws born?",
        "Who was – when was the director of Jaws born?",
    }


def test_first_words_that_say_nothing_yet_are_repeated():
    made = {re.sub(r" (?:um|uh|er),", "", one) for one in said(repetitions(JAWS, random.Random(0)), JAWS)}
    assert made == {f"When{words}, {JAWS[:1].lower()}{JAWS[1:]}" for words in ("", " was", " was the")}


def test_a_correction_names_something_of_the_same_kind_first():
    made = said(corrections(asked(JAWS), JAWS, random.Random(0)), JAWS)
    assert any(re.fullmatch(r"When was the producer, .+, the director of Jaws born\?", one) for one in made)
    assert all(one.endswith(("director of Jaws born?", "born?")) for one in made)


def test_a_title_of_the_documents_is_said_first_where_it_is_of_the_same_kind():
    found = [one for one in corrections(asked(JAWS, FILMS), JAWS, random.Random(0)) if one.kind == "other_title"]
    assert [one.text.split(",")[0] for one in found] == ["The Birds"]
    assert re.fullmatch(r"When was the director of The Birds, .+, Jaws born\?", spoken(JAWS, found))


def test_a_title_that_answers_is_never_said():
    found = corrections(asked(JAWS, FILMS, answers=("the man behind The Birds",)), JAWS, random.Random(0))
    assert not [one for one in found if one.kind == "other_title"]


def test_names_and_titles_are_not_torn():
    text = "Who wrote The Lord of the Rings and played King of the Hill in “the end of the day”?"
    places = {one.place for one in fillers(text, random.Random(0))}
    assert {text[place:].split()[0] for place in places} == {"Who", "The", "King"}


def test_small_letters_go_on_inside_a_sentence():
    um = [Insertion(place=0, text="um, ", kind="filler")]
    assert spoken("Who wrote it?", um) == "Um, who wrote it?"
    assert spoken("who wrote it", um) == "um, who wrote it"
    assert spoken("Jaws was directed by who?", um) == "Um, Jaws was directed by who?"
    assert spoken("The Birds was directed by who?", um) == "Um, The Birds was directed by who?"


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"n": 0}, "n is 0, expected 1 or more"), ({"kinds": ("stutter",)}, "kinds has 'stutter'. Known kinds: filler,")],
)
def test_settings_that_make_no_sense_are_named(settings, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Disfluency(**settings)


def test_strength_is_the_number_of_disfluencies():
    for n in (1, 2, 3):
        (proposal, *_) = Disfluency(n=n, kinds=("filler", "repetition")).wordings(
            asked("What is the name of the river in Rome?")
        )
        assert len(proposal.facts["kinds"]) == n


def test_a_fluent_wording_of_a_model_is_refused():
    checked = Disfluency().checked(JAWS, Proposal(text="When was Jaws's director born?"))
    assert checked.refused and checked.refused.kind == "fluent"
    assert Disfluency().checked(JAWS, Proposal(text="When, uh, when was the director of Jaws born?")).refused is None


@pytest.mark.parametrize("text", ["Jaws", "Wer war der Regisseur von Jaws?", "", "谁导演了大白鲨?"])
def test_one_word_and_other_languages_are_refused(text):
    assert Disfluency().wordings(asked(text)) == []


@given(st.text(max_size=60) | st.lists(st.sampled_from(WORDS)).map(" ".join))
def test_all_words_of_any_text_stay_in_their_order(text):
    for proposal in Disfluency().wordings(asked(text, FILMS)):
        made = iter(re.findall(r"\w+", proposal.text.lower()))
        assert all(word in made for word in re.findall(r"\w+", " ".join(text.lower().split())))
