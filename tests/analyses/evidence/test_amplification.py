from __future__ import annotations

import polars as pl
import pytest
from made_study import made_study
from scipy import stats
from score_rows import score_rows

from shaketable.analyses.evidence.amplification import amplification


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


def ratios(table: pl.DataFrame) -> list[dict[str, object]]:
    return [dict(row) for row in amplification(table).rows if row["kind"] == "ratio"]


def test_ratios_are_of_mean_drops() -> None:
    found = ratios(drops((0.01, 0.03), (0.02, 0.04), (0.05, 0.07)))
    assert [row["value"] for row in found] == pytest.approx([1, 1.5, 3])
    assert (found[0]["low"], found[0]["high"]) == (1, 1)


def test_a_ratio_to_next_to_nothing_is_undefined() -> None:
    found = ratios(drops((0.0004, 0.0006), (0.02, 0.04)))
    reason = "the drop at the coolest temperature is below 0.001"
    assert [(row["value"], row["low"], row["reason"]) for row in found] == [(None, None, reason)] * 2


def test_a_ratio_that_some_resamples_leave_undefined_has_no_interval() -> None:
    hot = ratios(drops((0.01, -0.002), (0.02, 0.04)))[1]
    assert hot["value"] == pytest.approx(7.5)
    assert (hot["low"], hot["reason"]) == (None, "the drop at the coolest temperature is below 0.001 in some resamples")


def test_the_slope_is_that_of_the_line_through_the_means() -> None:
    losses = ((0.01, 0.03, 0.02), (0.02, 0.04, 0.01), (0.05, 0.07, 0.09))
    (slope,) = (row for row in amplification(drops(*losses)).rows if row["kind"] == "slope")
    expected = stats.linregress([0, 1, 2], [sum(of_one) / 3 for of_one in losses]).slope
    assert slope["value"] == pytest.approx(expected)
    assert slope["low"] <= expected <= slope["high"]
    assert slope["n"] == 3


def test_growing_costs_are_told() -> None:
    table = made_study(costs={"unchanged": 0.0, "noise": 0.05}, growth=1.0)
    (sentence,) = amplification(table).sentences
    assert sentence.startswith("The hotter smollm2 runs, the more noise costs it: 0.0")


def test_steady_costs_are_not_said_to_change() -> None:
    (sentence,) = amplification(made_study(costs={"unchanged": 0.0, "noise": 0.05})).sentences
    assert sentence.startswith("Noise: no change of its cost with temperature was found for smollm2 (")


def test_a_missing_score_leaves_a_question_out_of_the_slope_only_where_it_must() -> None:
    table = drops((0.01, 0.03), (0.02, 0.04), (0.05, 0.07))
    hole = (pl.col("question_id") == "q1") & (pl.col("temperature") == 1) & (pl.col("perturbation") == "noise")
    rows = amplification(table.with_columns(value=pl.when(hole).then(None).otherwise("value"))).rows
    assert [(row["kind"], row["n"], row["n_missing"]) for row in rows] == [
        ("ratio", 2, 0),
        ("ratio", 1, 1),
        ("ratio", 2, 0),
        ("slope", 1, 1),
    ]
