from __future__ import annotations

import string
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_records import QUESTION, record, scores, value

from shaketable.metrics.contains import Contains
from shaketable.metrics.exact_match import ExactMatch

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
    assert value(Contains(match="substring"), answer, gold) == expected


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


@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [
        ("US", "Austria", 0.0),
        ("US", "USSR", 0.0),
        ("US", "It is the US.", 1.0),
        ("us", "Rus, then US", 1.0),
        ("U.S", "the U.S. army", 1.0),
        ("A", "Vitamin A", 1.0),
        ("A", "Vitamin B, alas", 0.0),
        ("12", "In 1912", 0.0),
        ("12", "12 men", 1.0),
        ("C++", "It is C++.", 1.0),
        ("Rome", "Romeo", 1.0),
        # Chinese puts no spaces between words.
        ("東京", "東京です", 1.0),
        # An accent belongs to the letter before it, also as a character of its own.
        ("No", "No\u0301", 0.0),
    ],
)
def test_an_accepted_answer_of_up_to_three_characters_is_a_word_of_its_own(gold: str, answer: str, expected: float):
    assert value(Contains(match="substring"), answer, gold) == expected


@pytest.mark.parametrize(("answer", "expected"), [("USSR", 0.0), ("US army", 1.0), ("us", 1.0), ("The US", 0.0)])
def test_a_short_answer_at_the_start_is_a_word_too(answer: str, expected: float) -> None:
    assert value(Contains(match="startswith"), answer, "US") == expected


def test_the_canonical_answer_alone_counts_without_aliases() -> None:
    assert value(Contains(aliases=False), "She lives in NYC.", "New York", "NYC") == 0.0
    assert value(Contains(aliases=False), "She lives in New York.", "New York", "NYC") == 1.0


@pytest.mark.parametrize("metric", [Contains(aliases=False), ExactMatch(aliases=False)])
def test_all_accepted_answers_count_where_none_is_known_to_be_the_canonical_one(metric) -> None:
    question = replace(QUESTION, answers=("New York", "NYC"), tags={"canonical": False})
    ((score,),) = metric.score([record("NYC")], {"q": question})
    assert score.value == 1.0


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
    with pytest.raises(ValueError, match="expected 'whole', 'substring', 'token' or 'startswith'"):
        Contains(match="regex")  # type: ignore[arg-type]


@given(ASCII, ASCII, st.sampled_from(["whole", "substring", "token"]))
def test_case_changes_do_not_alter_the_value(answer: str, gold: str, match: str) -> None:
    metric = Contains(match=match)  # type: ignore[arg-type]
    assert value(metric, answer, gold) == value(metric, answer.swapcase(), gold.upper())


@given(ASCII, ASCII, ASCII)
def test_more_text_around_an_answer_that_counts_still_counts(before: str, gold: str, after: str) -> None:
    if len(gold.strip()) > 3:
        assert value(Contains(match="substring"), before + gold + after, gold) == 1.0


def test_the_full_output_counts_without_what_searches_brought() -> None:
    working = "Hm. <|begin_search_result|>Ann\nLee<|end_search_result|> It was Bob. <|begin_search_result|>Ann Lee"
    one = record("Carl")
    for text, expected in ((working, 0.0), (f"Ann Lee? {working}", 1.0), ("", 0.0)):
        given = replace(one, answer=replace(one.answer, working=text))  # type: ignore[type-var]
        ((score,),) = Contains(scored="full_output").score([given], {"q": QUESTION})
        assert score.value == expected
        ((score,),) = Contains().score([given], {"q": QUESTION})
        assert score.value == 0.0
