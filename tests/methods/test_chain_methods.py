"""The baselines that write sentence after sentence, and those that answer once."""

import pytest
from by_hand import completion, drive, hit

from shaketable.methods.chain_of_thought import chain, join
from shaketable.methods.closed_book import ClosedBook
from shaketable.methods.dragin import Dragin
from shaketable.methods.fixed_length import FixedLength
from shaketable.methods.fixed_sentence import FixedSentence
from shaketable.methods.flare import Flare
from shaketable.methods.interleaved import Interleaved
from shaketable.methods.query_rewrite import QueryRewrite
from shaketable.methods.single_retrieval import SingleRetrieval
from shaketable.types import Generate

WORDING = "Whom did Zeus meet?"
HITS = [hit(f"Passage {i}.") for i in range(6)]
SURE = "So the answer is Leda."


@pytest.mark.weights
def test_fixed_sentence_searches_with_the_question_and_then_with_each_sentence():
    driven = drive(FixedSentence(), WORDING, ["Zeus left. He ran.", "He met Leda. Yes.", SURE], hits=HITS)
    assert driven.queries == [WORDING, "Zeus left.", "He met Leda."]
    assert driven.answer.working == f"Zeus left. He met Leda. {SURE}"
    assert driven.answer.text == "Leda"


def test_fixed_length_searches_with_each_block():
    driven = drive(FixedLength(), WORDING, ["Zeus left and", "met Leda there.", SURE], hits=HITS)
    assert driven.queries == [WORDING, "Zeus left and", "met Leda there."]
    assert [step.max_tokens for step in driven.of(Generate)] == [16] * 3
    with pytest.raises(ValueError, match="block_tokens is 0"):
        FixedLength(block_tokens=0)


def test_fixed_length_ends_at_the_limit():
    """Blocks of 4 tokens, their end marks counted: 4, 8, 12 > 10."""
    driven = drive(FixedLength(max_length=10), WORDING, ["a b c"], hits=HITS)
    assert driven.purposes == ["", "", "", "answer_completion"]


@pytest.mark.weights
def test_interleaved_gathers_its_evidence():
    method = Interleaved(k=2, max_sentences=2)
    driven = drive(method, WORDING, ["Zeus left. He ran.", "He met Leda.", " Leda."], hits=HITS)
    assert driven.queries == [WORDING, "Zeus left."]
    assert driven.purposes == ["", "", "answer_completion"]
    assert "Passage 1." in driven.of(Generate)[-1].messages[-2].content
    assert driven.answer.text == "Leda"


def test_query_rewrite_searches_with_the_model_s_query():
    driven = drive(QueryRewrite(), WORDING, ['"Zeus meeting"\nand more', "Leda."], hits=HITS)
    assert driven.queries == ["Zeus meeting"]
    assert driven.answer.text == "Leda."
    assert drive(QueryRewrite(), WORDING, ["\n ", "Leda."], hits=HITS).queries == [WORDING]


def test_methods_that_ask_once_can_reason_after_examples_too():
    closed = drive(ClosedBook(n_examples=2), WORDING, [f"He met Leda. {SURE}"])
    assert closed.answer.text == "Leda"
    assert len(closed.of(Generate)[0].messages) == 5
    single = drive(SingleRetrieval(n_examples=1, k=2), WORDING, ["He met Leda.", " Leda."], hits=HITS)
    assert single.purposes == ["", "answer_completion"]
    assert all("[2] Passage 1." in step.messages[2].content for step in single.of(Generate))
    with pytest.raises(ValueError, match="give 0 to 8"):
        ClosedBook(n_examples=-1)


@pytest.mark.weights
@pytest.mark.parametrize("method", [Dragin(), Flare(), FixedSentence(), FixedLength(), Interleaved()])
def test_a_model_that_spends_its_tokens_thinking_fails_the_trial_and_is_told_what_helps(method):
    """An empty answer would count as a wrong one, though the model was cut off before it said a word."""
    lost = completion("", finish="length", thoughts="Let me think about Zeus.", entropy=0.0, logprobs=0.0)
    with pytest.raises(ValueError, match=r"all (64|16) tokens .* thinking.*layout='plain'.*max_length") as told:
        drive(method, WORDING, [lost], hits=HITS)
    assert str(16 if isinstance(method, FixedLength) else 64) in str(told.value)


@pytest.mark.weights
def test_a_model_that_thinks_and_then_speaks_is_heard():
    said = completion(SURE, thoughts="Hm.", entropy=0.0, logprobs=0.0)
    assert drive(FixedSentence(), WORDING, [said], hits=HITS).answer.text == "Leda"


def test_an_answer_with_nothing_after_the_phrase_says_why_it_is_empty():
    asked = ClosedBook(n_examples=2)
    empty, given = (drive(asked, "Who?", [f"So the answer is{said}."]).answer for said in ("", " Ann"))
    assert (empty.text, empty.reason) == ("", "nothing_after_the_answer_phrase")
    assert (given.text, given.reason) == ("Ann", None)


def test_every_example_ends_in_the_phrase():
    messages = chain(f"Question: {WORDING}", "", 8, "chat")
    assert len(messages) == 17
    assert all("So the answer is " in message.content for message in messages[1::2])
    assert all(message.content.startswith("Question: ") for message in messages[::2])


def test_texts_are_joined_by_one_space():
    assert join(" a ", "", "\n", "b") == "a b"
