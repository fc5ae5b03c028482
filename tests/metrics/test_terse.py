from __future__ import annotations

import pytest
from made_records import scores, value

from shaketable.metrics.terse import Terse


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 1.0), ("Paris", 1.0), ("  Ann \n Lee. ", 1.0), ("It was Paris", 0.0), ("Ann Lee wrote it.", 0.0)],
)
def test_two_words_are_terse_and_three_are_not(text: str, expected: float) -> None:
    assert value(Terse(), text, "Paris") == expected


def test_how_many_words_are_few_is_a_setting() -> None:
    assert value(Terse(max_words=3), "It was Paris") == 1.0


def test_a_failed_trial_is_not_terse() -> None:
    score = scores(Terse(), None)["terse"]
    assert (score.value, score.reason) == (None, "failed: timeout")
