from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_records import scores, value

from shaketable.metrics.token_f1 import TokenF1


# Worked by hand: 2 · shared / (words of the answer + words of the gold), articles not counted.
@pytest.mark.parametrize(
    ("answer", "gold", "expected"),
    [
        ("the film was directed by James Cameron", "James Cameron", 0.5),  # 2 · 2 / (6 + 2)
        ("James James", "James", 2 / 3),  # 2 · 1 / (2 + 1)
        ("The Beatles!", "beatles", 1.0),
        ("", "Paris", 0.0),
        ("Rome", "Paris", 0.0),
        ("the", "the", 0.0),
    ],
)
def test_f1_counts_shared_words(answer: str, gold: str, expected: float) -> None:
    assert value(TokenF1(), answer, gold) == pytest.approx(expected)


def test_the_best_accepted_answer_counts() -> None:
    assert value(TokenF1(), "NYC", "New York", "NYC") == 1.0


def test_strictness_gives_zero_where_one_side_alone_is_yes_or_no() -> None:
    answer = "yes they are"
    assert value(TokenF1(), answer, "yes") == 0.5
    assert value(TokenF1(strict_yes_no=True), answer, "yes") == 0.0
    assert value(TokenF1(strict_yes_no=True), "Yes.", "yes") == 1.0
    assert value(TokenF1(strict_yes_no=True), "yes they are", "they are") == 0.8


def test_a_failed_trial_and_a_question_without_answers_have_no_number() -> None:
    assert scores(TokenF1(), None, "x")["token_f1"].reason == "failed: timeout"
    assert scores(TokenF1(), "x")["token_f1"].reason == "no accepted answer"


@given(st.text(), st.text())
def test_f1_lies_between_zero_and_one_and_is_symmetric(left: str, right: str) -> None:
    found = value(TokenF1(), left, right)
    assert found is not None
    assert 0.0 <= found <= 1.0
    assert found == value(TokenF1(), right, left)
