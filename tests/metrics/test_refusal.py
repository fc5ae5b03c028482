from __future__ import annotations

import pytest
from made_records import QUESTION, record, scores, value

from shaketable.metrics.refusal import Refusal

REFUSALS = [
    "The document does not provide information about his birthplace.",
    "The provided documents do not mention who directed the film.",
    "The context doesn’t specify the year.",
    "The passage makes no mention of a second director.",
    "The given text does not contain enough details to say.",
    "This is not mentioned in the document.",
    "Her place of burial was not explicitly stated in the provided context.",
    "There is no information in the passage about the river.",
    "There is not enough information to answer the question.",
    "Not enough information.",
    "Insufficient information.",
    "Based on the documents, it cannot be determined which is older.",
    "I cannot determine the answer from the context.",
    "It is impossible to determine who was first.",
    "I'm unable to answer this question.",
    "I am not sure.",
    "I don't know.",
    "Sorry, I do not know the answer.",
    "I don't know who directed it.",
    "I have no idea",
    "I don't have access to that information.",
    "I'm sorry, but I can't help with that.",
    "As an AI language model, I do not have personal opinions.",
    "The answer is unknown.",
    "Unknown",
    "N/A",
    "We do not know which of them was born first.",
    "Could you please provide more context?",
    "Please provide the documents so that I can answer the question.",
    "It is unclear from the text whether both are American.",
    "I could not find any mention of the novel.",
    "I apologize for the confusion.",
]
ANSWERS = [
    "",
    "Paris",
    "No",
    "No, they are not from the same country.",
    "Yes, both are astronauts who flew in space.",
    "The song is “I Don't Know How to Love Him”.",
    "I Don't Know How to Love Him",
    "Unknown Pleasures",
    "The film Unknown was directed by Jaume Collet-Serra.",
    "The Tomb of the Unknown Soldier",
    "He did not provide funds for the second expedition.",
    "The document that Jefferson wrote declared independence.",
    "She could not swim, so she stayed in Delft.",
    "The committee was not able to build the bridge before 1937.",
    "He mentions the river in the text of the poem.",
    "The Information was written by Martin Amis.",
    "She was an AI researcher at Imperial College.",
    "Mary Shelley, who was not named after her father",
    "The source of the river is not in France but in Switzerland.",
    "The text was first published in 1818.",
    "Gandhi apologized to his father.",
    "I, Robot",
    "The Cannot brothers",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_is_recognized(text: str) -> None:
    assert value(Refusal(), text, "Paris") == 1.0
    assert value(Refusal(), text.upper(), "Paris") == 1.0


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_is_not_a_refusal(text: str) -> None:
    assert value(Refusal(), text, "Paris") == 0.0


def test_an_answer_after_a_refusal_still_declines_in_part() -> None:
    assert value(Refusal(), "The document does not mention it, but I think it is Paris.", "Paris") == 1.0


def test_a_method_that_abstained_has_refused_whatever_its_words() -> None:
    ((score,),) = Refusal().score([record("", abstained=True)], {"q": QUESTION})
    assert score.value == 1.0


def test_a_failed_trial_is_not_a_refusal() -> None:
    score = scores(Refusal(), None)["refusal"]
    assert (score.value, score.reason) == (None, "failed: timeout")


def test_an_unanswerable_question_can_be_refused() -> None:
    assert value(Refusal(), "I don't know.") == 1.0


def test_a_very_long_text_is_read_in_reasonable_time() -> None:
    import time

    start = time.process_time()
    value(Refusal(), "no information the document is not " * 3000)
    assert time.process_time() - start < 5
