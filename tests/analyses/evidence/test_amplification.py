from __future__ import annotations

import polars as pl
import pytest
from few_resamples import few_tables
from made_study import made_study
from scipy import stats
from score_rows import score_rows

from shaketable.analyses.evidence.amplification import amplification
from shaketable.types import Estimate


def drops(*by_temperature: tuple[float, ...]) -> pl.DataFrame:
    """Original at 0.9; at temperatures 0, 1, 2 … each question loses so much."""
    return pl.concat(
        [
            table
            for temperature, losses in enumerate(by_temperature)
            for table in (
                score_rows({f"q{i}": (0.9,) for i in range(len(losses))}, temperature=float(temperature)),
                score_rows(
                    {f"q{i}": (0.9 - loss,) for i, loss in enumerate(losses)},
                    temperature=float(temperature),
                    perturbation="noise",
                ),
            )
        ]
    )


def ratios(table: pl.DataFrame) -> list[Estimate]:
    return [ratio.ratio for ratio in amplification(few_tables(table)).ratios]


def test_ratios_are_of_mean_drops() -> None:
    made = ratios(drops((0.01, 0.03), (0.02, 0.04), (0.05, 0.07)))
    assert [ratio.value for ratio in made] == pytest.approx([1, 1.5, 3])
    assert (made[0].low, made[0].high) == (1, 1)


def test_a_ratio_to_next_to_nothing_is_undefined() -> None:
    made = ratios(drops((0.0004, 0.0006), (0.02, 0.04)))
    reason = "the drop at the lowest temperature is below 0.001"
    assert [(ratio.value, ratio.low, ratio.reason) for ratio in made] == [(None, None, reason)] * 2


def test_a_ratio_that_some_resamples_leave_undefined_has_no_interval() -> None:
    hot = ratios(drops((0.01, -0.002), (0.02, 0.04)))[1]
    assert hot.value == pytest.approx(7.5)
    assert (hot.low, hot.reason) == (None, "the drop at the lowest temperature is below 0.001 in some resamples")


def test_the_slope_is_that_of_the_line_through_the_means() -> None:
    losses = ((0.01, 0.03, 0.02), (0.02, 0.04, 0.01), (0.05, 0.07, 0.09))
    (slope,) = (own.slope for own in amplification(few_tables(drops(*losses))).slopes)
    expected = stats.linregress([0, 1, 2], [sum(of_temperature) / 3 for of_temperature in losses]).slope
    assert slope.value == pytest.approx(expected)
    assert slope.low is not None and slope.high is not None and slope.low <= expected <= slope.high
    assert slope.n == 3


def test_the_slope_is_tested_by_flipping_the_signs_of_questions() -> None:
    """All ten questions lose more when hot: 2 of the 2¹⁰ flips are as extreme."""
    losses = tuple(0.01 + 0.001 * i for i in range(10))
    result = amplification(few_tables(drops(losses, tuple(2.2 * loss for loss in losses))))
    (slope,) = result.slopes
    assert slope.p == pytest.approx(2 / 2**10)
    (claim,) = result.claims()
    assert (claim.p, claim.estimate, claim.subject.cell) == (slope.p, slope.slope, slope.cell)


def test_the_slope_of_growing_costs_lies_above_zero_and_that_of_steady_ones_does_not() -> None:
    for growth, is_growing in ((1.0, True), (0.0, False)):
        table = made_study(costs={"unchanged": 0.0, "noise": 0.05}, growth=growth)
        pooled, *_ = amplification(few_tables(table)).slopes
        assert pooled.slope.low is not None
        assert (pooled.slope.low > 0) == is_growing


def test_a_missing_score_leaves_a_question_out_of_the_slope_only_where_it_must() -> None:
    table = drops((0.01, 0.03), (0.02, 0.04), (0.05, 0.07))
    hole = (pl.col("question_id") == "q1") & (pl.col("temperature") == 1) & (pl.col("perturbation") == "noise")
    result = amplification(few_tables(table.with_columns(value=pl.when(hole).then(None).otherwise("value"))))
    assert [(own.ratio.n, own.n_missing) for own in result.ratios] == [(2, 0), (1, 1), (2, 0)]
    assert [(own.slope.n, own.n_missing, own.n_left_out) for own in result.slopes] == [(1, 1, 1)]
