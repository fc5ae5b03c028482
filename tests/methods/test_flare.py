"""FLARE, in the DRAGIN code's variant and the original's."""

from dataclasses import replace
from math import log

import pytest
from by_hand import completion, drive, hit

from shaketable.methods.flare import Flare
from shaketable.types import Generate

pytestmark = pytest.mark.weights  # spaCy's, for sentences.

WORDING = "Whom did Zeus meet?"
HITS = [hit(f"Passage {i}.") for i in range(5)]
SURE = "So the answer is Leda."


def likely(text, *probabilities, name="logprobs"):
    return completion(text, **{name: [log(p) for p in probabilities]})


def test_an_unlikely_sentence_is_searched_without_its_unlikely_tokens():
    """Mean of 1 - p over .05 .05 .5 .05 is .1625 > .1; only the third token is above .1 itself."""
    said = likely("All is well. Zeus met Leda today.", 1, 1, 1, 0.95, 0.95, 0.5, 0.95)
    driven = drive(Flare(), WORDING, [said, f"Zeus met Leda. {SURE}"], hits=HITS)
    assert driven.queries == ["Zeus met today."]
    assert [(note["score"], note["query"]) for note in driven.notes("flare")] == [
        (0.0, None),
        (0.1625, "Zeus met today."),
    ]
    second = driven.of(Generate)[1]
    assert second.messages[-1].content == "All is well."
    assert "[3] Passage 2.\n" in second.messages[-2].content
    assert driven.answer.working == f"All is well. Zeus met Leda. {SURE}", "the whole continuation is kept"
    assert driven.answer.text == "Leda"


@pytest.mark.parametrize(("aggregate", "n_searches"), [("mean", 0), ("max", 1), ("min", 0)])
def test_sentences_can_be_judged_by_their_worst_token(aggregate, n_searches):
    said = likely(SURE, 1, 1, 1, 1, 0.6)
    driven = drive(Flare(aggregate=aggregate), WORDING, [said, SURE], hits=HITS)
    assert len(driven.queries) == n_searches


@pytest.mark.parametrize(
    ("masks", "query"), [("words", "has the larger diameter."), ("tokens", "ropa has the larger diameter.")]
)
def test_half_a_word_is_no_word_of_a_query(masks, query):
    """Europa is two tokens, of which the first is unlikely."""
    tokens = ("Eu", "ropa", " has", " the", " larger", " diameter.")
    said = replace(
        likely("Europa has the larger diameter.", 1), tokens=tokens, extras={"logprobs": [log(0.1), *[0.0] * 5]}
    )
    assert drive(Flare(masks=masks), WORDING, [said, SURE], hits=HITS).queries == [query]


def test_a_sentence_of_unlikely_tokens_alone_is_searched_with_the_question():
    assert drive(Flare(), WORDING, [likely("Leda.", 0.1), SURE], hits=HITS).queries == [WORDING]


def test_processed_probabilities_decide_when_asked_for():
    method = Flare(distribution="processed")
    said = completion(SURE, logprobs=-5.0, processed_logprobs=0.0)
    assert method.wants == ("processed_logprobs",)
    assert drive(method, WORDING, [said]).queries == []


# --- the original: section 3.11, and `ret_prompt` of its authors' code with their settings for 2WikiMultihopQA --------


def found_for(query):
    """Evidence that names the search it came from."""
    return [hit(f"Passage {i} for {query}") for i in range(5)]


def shown(step):
    """What the question was asked with, the worked examples aside."""
    return "\n".join(message.content for message in step.messages[12:])


def test_the_original_searches_first_with_the_question_and_then_for_any_unlikely_token():
    """p = .7 starts the search (below .8) and stays in the query; p = .3 is masked (below .4)."""
    ahead = likely("Zeus met Leda. It rained.", 0.9, 0.7, 0.3, 1, 1)
    replies = [likely("Zeus was restless. He left.", 1, 1, 1, 1, 1), ahead, "Zeus met Leda by night. More.", SURE]
    driven = drive(Flare(mode="original"), WORDING, replies, hits=HITS)
    assert driven.queries == [WORDING, "Zeus met"]
    assert "Passage 2." not in driven.of(Generate)[0].messages[-1].content, "two passages"
    assert driven.answer.working == f"Zeus was restless. Zeus met Leda by night. {SURE}"
    assert [note["least_likely"] for note in driven.notes("flare")] == [1.0, 0.3, 1.0]


def test_the_original_takes_a_likely_sentence_as_it_is():
    replies = [likely("He met Leda. Then.", 0.9, 0.9, 0.9, 0.1), SURE]
    driven = drive(Flare(mode="original"), WORDING, replies, hits=HITS)
    assert driven.queries == [WORDING]
    assert driven.answer.working == f"He met Leda. {SURE}"


def test_the_original_checks_the_first_sentence_too():
    replies = [likely("Zeus met Leda.", 0.9, 0.3, 0.9), "Zeus saw Leda. More.", SURE]
    driven = drive(Flare(mode="original"), WORDING, replies, hits=found_for)
    assert driven.queries == [WORDING, "Zeus Leda."]
    assert driven.answer.working == f"Zeus saw Leda. {SURE}"


def test_the_original_looks_ahead_with_the_last_documents_still_in_the_prompt():
    replies = [likely("Zeus met Leda.", 0.9, 0.3, 0.9), "Zeus saw Leda.", likely("She ran.", 1, 1), SURE]
    first, again, second, third = drive(Flare(mode="original"), WORDING, replies, hits=found_for).of(Generate)
    assert f"[2] Passage 1 for {WORDING}" in shown(first)
    for later in (again, second, third):
        assert "[2] Passage 1 for Zeus Leda." in shown(later)
        assert f"for {WORDING}" not in shown(later), "what was found last takes the place of what was found before"


def test_the_original_does_not_search_when_masking_leaves_nothing():
    replies = [likely("Leda.", 0.1), SURE]
    driven = drive(Flare(mode="original"), WORDING, replies, hits=found_for)
    assert driven.queries == [WORDING]
    assert driven.answer.working == f"Leda. {SURE}", "the sentence is taken as it is"
    assert driven.notes("flare")[0] == {"sentence": "Leda.", "least_likely": 0.1, "query": ""}


def test_the_original_completes_its_answer_from_the_last_documents():
    driven = drive(
        Flare(mode="original", text_tokens=1), WORDING, [likely("He met her.", 1, 1, 1), " Leda."], hits=HITS
    )
    assert driven.purposes == ["", "answer_completion"]
    assert "[2] Passage 1." in shown(driven.of(Generate)[-1])


def test_a_model_without_probabilities_is_named():
    with pytest.raises(ValueError, match="gave no logprobs for its tokens"):
        drive(Flare(), WORDING, [completion("Leda.")])
