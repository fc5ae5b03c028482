from __future__ import annotations

import string
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_records import QUESTION, record, scores, value

from shaketable.metrics.contains import Contains

ASCII = st.text(string.ascii_letters + " .,'", max_size=40)


# The table of the InAccuracy rule (AdaRAGUE): gold, answer, expected.
@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [
        ("The Beatles", "It was the beatles.", 1.0),
        ("Paris", "Parisian culture", 0.0),
        ("new york", "new yorkers", 0.0),
        ("U.S.", "US", 0.0),
        ("art", "party time", 0.0),
        ("the", "the", 0.0),
        ("Lee Ann", "Ann Lee", 0.0),
    ],
)
def test_token_match_wants_the_same_words_in_a_row(gold: str, answer: str, expected: float) -> None:
    assert value(Contains(match="token"), answer, gold) == expected


@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [("Paris", "PARISIAN culture", 1.0), ("Paris", "London", 0.0), ("  ", "anything", 0.0), ("Straße", "STRASSE", 1.0)],
)
def test_substring_match_ignores_case_alone(gold: str, answer: str, expected: float) -> None:
    assert value(Contains(), answer, gold) == expected


@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [
        ("no", "I know him.", 0.0),
        ("no", "No, he was not.", 1.0),
        ("No", "The answer is no", 1.0),
        ("yes", "eyes", 0.0),
        ("yes", "Yes.", 1.0),
    ],
)
def test_yes_and_no_are_matched_as_words(gold: str, answer: str, expected: float) -> None:
    assert value(Contains(), answer, gold) == expected


def test_any_accepted_answer_will_do() -> None:
    assert value(Contains(), "She lives in NYC.", "New York", "NYC") == 1.0


def test_a_failed_trial_has_no_number_and_says_why() -> None:
    score = scores(Contains(), None, "Paris")["contains"]
    assert (score.value, score.reason) == (None, "failed: timeout")


def test_a_question_without_accepted_answers_has_no_number() -> None:
    score = scores(Contains(), "Paris")["contains"]
    assert (score.value, score.reason) == (None, "no accepted answer")


def test_records_keep_their_order_and_keys() -> None:
    records = [record("Ann Lee", key="a"), record(None, key="b"), record("Bo", key="c")]
    found = Contains().score(records, {"q": QUESTION})
    assert [(score.key, score.value) for (score,) in found] == [("a", 1.0), ("b", None), ("c", 0.0)]


def test_an_unknown_way_to_match_is_refused() -> None:
    with pytest.raises(ValueError, match="expected 'substring', 'token' or 'startswith'"):
        Contains(match="regex")  # type: ignore[arg-type]


@given(ASCII, ASCII, st.sampled_from(["substring", "token"]))
def test_case_changes_do_not_alter_the_value(answer: str, gold: str, match: str) -> None:
    metric = Contains(match=match)  # type: ignore[arg-type]
    assert value(metric, answer, gold) == value(metric, answer.swapcase(), gold.upper())


@given(ASCII, ASCII, ASCII)
def test_more_text_around_an_answer_that_counts_still_counts(before: str, gold: str, after: str) -> None:
    if gold.strip() and gold.strip().casefold() not in ("yes", "no"):
        assert value(Contains(), before + gold + after, gold) == 1.0


def test_the_full_output_counts_without_what_searches_brought() -> None:
    working = "Hm. <|begin_search_result|>Ann\nLee<|end_search_result|> It was Bob. <|begin_search_result|>Ann Lee"
    one = record("Carl")
    for text, expected in ((working, 0.0), (f"Ann Lee? {working}", 1.0), ("", 0.0)):
        given = replace(one, answer=replace(one.answer, working=text))  # type: ignore[type-var]
        ((score,),) = Contains(scored="full_output").score([given], {"q": QUESTION})
        assert score.value == expected
        ((score,),) = Contains().score([given], {"q": QUESTION})
        assert score.value == 0.0
