from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_records import scores, value

from shaketable.metrics.exact_match import ExactMatch


@pytest.mark.parametrize(
    ("normalization", "answer", "expected"),
    [
        ("plain", "**The Beatles.**", 1.0),
        ("plain", "Beatles", 0.0),
        ("casefold_strip", "**The Beatles.**", 0.0),
        ("casefold_strip", " the beatles. ", 1.0),
        ("casefold_strip", "Beatles", 0.0),
        ("raw", "The Beatles", 1.0),
        ("raw", "The Beatles.", 0.0),
        ("squad", "beatles!", 1.0),
        ("squad", "The Beatles, of course", 0.0),
    ],
)
def test_each_normalization_forgives_what_it_names(normalization: str, answer: str, expected: float) -> None:
    assert value(ExactMatch(normalization=normalization), answer, "The Beatles") == expected  # type: ignore[arg-type]


def test_an_alias_counts_unless_only_the_canonical_answer_is_wanted() -> None:
    assert value(ExactMatch(), "NYC", "New York", "NYC") == 1.0
    assert value(ExactMatch(aliases=False), "NYC", "New York", "NYC") == 0.0
    assert value(ExactMatch(aliases=False), "New York", "New York", "NYC") == 1.0


def test_a_failed_trial_and_a_question_without_answers_have_no_number() -> None:
    assert scores(ExactMatch(), None, "x")["exact_match"].reason == "failed: timeout"
    assert scores(ExactMatch(), "x")["exact_match"].value is None


def test_an_unknown_normalization_is_refused() -> None:
    with pytest.raises(ValueError, match="casefold_strip"):
        ExactMatch(normalization="loose")  # type: ignore[arg-type]


@given(st.text().filter(str.strip), st.sampled_from(["plain", "casefold_strip", "raw", "squad"]))
def test_a_text_equals_itself(text: str, normalization: str) -> None:
    assert value(ExactMatch(normalization=normalization), text, text) == 1.0  # type: ignore[arg-type]
