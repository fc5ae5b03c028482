"""What two systems take for the same questions."""

from __future__ import annotations

import polars as pl
import pytest

from shaketable.analyses.efforts import MEASURED, compare_efforts
from shaketable.factors import System
from shaketable.statistics.intervals import Bootstrap

TEXTS = ("dataset", "variation", "perturbation", "type", "model", "method", "retriever", "reason")


def records(dollars: list[float | None], *, seconds: float = 0.5, failed: int | None = None) -> pl.DataFrame:
    n = len(dollars)
    columns = dict.fromkeys(MEASURED, [1.0] * n) | {"dollars": dollars, "seconds": [seconds] * n}
    return pl.DataFrame(
        {
            "question_id": [f"q{i}" for i in range(n)],
            "failure": ["timeout" if i == failed else None for i in range(n)],
            "repeat": [0] * n,
            **{name: [name] * n for name in TEXTS},
            "temperature": [0.0] * n,
            **columns,
        },
        schema_overrides={"dollars": pl.Float64, "failure": pl.String},
    )


def measured(first: pl.DataFrame, second: pl.DataFrame) -> dict[str, tuple[float | None, float | None, int]]:
    efforts = compare_efforts(first, second, system=System(model="m", method="m"), bootstrap=Bootstrap(n_resamples=200))
    changes = {effort.measured: effort.change for effort in efforts}
    return {name: (own.first.value, own.second.value, own.difference.n) for name, own in changes.items()}


def test_dollars_are_compared_question_by_question_and_come_first() -> None:
    """Means of .01 … .04 and of twice that, by hand."""
    own = measured(records([0.01, 0.02, 0.03, 0.04]), records([0.02, 0.04, 0.06, 0.08]))
    assert next(iter(own)) == "dollars"
    assert own["dollars"] == (pytest.approx(0.025), pytest.approx(0.05), 4)


def test_a_cost_that_one_side_does_not_tell_is_unknown_and_no_zero() -> None:
    own = measured(records([0.01, 0.02, 0.03]), records([None, None, None]))
    assert "dollars" not in own and own["seconds"][2] == 3


def test_a_question_without_a_price_or_an_answer_is_left_out() -> None:
    own = measured(records([0.01, None, 0.03, 0.05]), records([0.01, 0.02, 0.05, 0.09], failed=3))
    assert own["dollars"] == (pytest.approx(0.02), pytest.approx(0.03), 2)


@pytest.mark.parametrize(
    ("factor", "is_claimed"), [(1.0, False), (1.04, False), (1.06, True), (0.9, True), (0.97, False)]
)
def test_a_difference_is_claimed_beyond_a_twentieth_alone(factor: float, is_claimed: bool) -> None:
    """The same factor for each question, so that the interval is narrow: 4 % more is certain and small."""
    seconds = [1.0 + i / 1000 for i in range(40)]
    first, second = (
        records([1.0] * 40).with_columns(seconds=pl.Series(own)) for own in (seconds, [factor * s for s in seconds])
    )
    efforts = compare_efforts(first, second, system=System(model="m", method="m"), bootstrap=Bootstrap())
    assert {own.measured: own.is_claimed for own in efforts}["seconds"] is is_claimed


def test_a_large_difference_that_is_unsure_is_not_claimed() -> None:
    first, second = (records([1.0] * 10).with_columns(seconds=pl.Series([1.0] * 9 + [last])) for last in (1.0, 9.0))
    efforts = compare_efforts(first, second, system=System(model="m", method="m"), bootstrap=Bootstrap())
    assert {own.measured: own.is_claimed for own in efforts}["seconds"] is False
