"""Questions as queries of keywords: what is left says what is asked."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaketable.types import Question
from shaketable.variations.english.search_box import keywords
from shaketable.variations.gate.proposals import Proposal
from shaketable.variations.keywords import Keywords

pytestmark = pytest.mark.weights
WORDS = ("who", "is", "the", "a", "of", "Jaws", "was", "director", "?", ",", "'", "did")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is the capital of Peru?", "capital of Peru"),
        ("Where was the director of film Jaws born?", "where director of film Jaws born"),
        ("When did Ada Lovelace die?", "when Ada Lovelace die"),
        ("How many moons are in the Solar System?", "how many moons in Solar System"),
        ("Which film was released earlier, Jaws or The Birds?", "film released earlier, Jaws or The Birds"),
        ("In what year did the First World War end?", "what year First World War end"),
        ("Are Jaws and The Birds from the same country?", "are Jaws and The Birds from same country"),
        ("who is the mayor of london", "mayor of london"),
    ],
)
def test_articles_helping_verbs_and_needless_question_words_are_dropped(text, expected):
    assert keywords(text) == expected


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Who was crowned in the cathedral of Reims?", "who was crowned"),  # not: who crowned
        ("How did old Norse become the language of Iceland?", "how did old"),  # not: how old
        ("Which country is not in the European Union?", "is not"),
        ("What were most of the ships in the harbour built from?", "what were most"),  # not: what most
        ("Which actor suffered from the flu?", "which actor suffered"),  # not a statement
        ("In which county is the town of Bath?", "in which county is"),  # not: which county is
        ("Who wrote The Lord of the Rings?", None),
        ("What does the word the mean in a sentence?", "the mean"),
        ("Which choir sang the hymn a cappella in the cathedral of Reims?", "a cappella"),
        ("Which song of the sixties has the line I was a sailor on the sea?", "line I was a sailor on the sea"),
        ("What is the name of the river London Bridge crosses?", "the river London Bridge crosses"),
        ("What is the size of the region the Roman army settled?", "region the Roman army"),
        ("Who was in charge of the army at Reims?", "who was in charge"),  # not: who is
        ("Who was the captain of the ship?", "who was captain"),
        ("In which county is the town sharing the name of the river?", "in which county is town"),
        ("Who visited the Pope a month before his death in the city of Rome?", "a month before"),
        ("Do both Jaws and The Birds come from the same country?", "do both Jaws"),  # not a statement
        ("Which ship that left Reims is often the subject of the song?", "is often"),
        ("What is the whale called in the book of Jonah?", "what is whale called"),
        ("When did the man who built the tower die?", "when did man who"),
        ("On which street do many of the actors of the theatre live?", "many of the actors"),
    ],
)
def test_what_would_change_the_meaning_stays(text, kept):
    made = keywords(text)
    assert made is None if kept is None else kept in made


@pytest.mark.parametrize(
    "text",
    [
        "Was Jaws made before The Birds?",  # a statement would be left
        "The aim of which game is to catch the king?",
        "What Sailors Want, a film about the sea, was directed by whom?",
        "Wer war der Regisseur von Jaws?",
        "A man came first. What was the name of his wife?",
        "who wrote the wind in the willows",  # a title in small letters
        "Jaws",
        "",
    ],
)
def test_what_would_not_stay_clear_is_refused(text):
    assert keywords(text) is None


@given(st.text(max_size=60) | st.lists(st.sampled_from(WORDS)).map(" ".join))
def test_any_text_keeps_its_words_in_order_or_is_refused(text):
    made = keywords(text)
    if made is not None:
        rest = iter(re.findall(r"\w+", text.lower()))
        assert all(word in rest for word in re.findall(r"\w+", made.lower()))
        assert made.strip() and len(made) < len(text)


def test_a_model_that_asks_in_a_sentence_is_refused():
    part = Keywords()
    asked = part.checked("Who directed Jaws?", Proposal(text="director Jaws?"))
    assert asked.refused and asked.refused.kind == "asks_in_a_sentence"
    longer = part.checked("Who directed Jaws?", Proposal(text="name of director of Jaws"))
    assert longer.refused and longer.refused.kind == "no_shorter"
    assert part.checked("Who directed Jaws?", Proposal(text="director Jaws")).refused is None


def test_a_query_passes_the_gate_though_it_does_not_ask():
    question = Question(id="q", text="What is the capital of Peru?", answers=("Lima",))
    ((variant,),) = Keywords().vary([question])
    assert (variant.text, variant.rejected) == ("capital of Peru", None)
