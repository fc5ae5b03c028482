from __future__ import annotations

import math

import polars as pl
import pytest
from score_rows import TWO_QUESTIONS, score_rows, spread_study

from shaketable.analyses.evidence.figure_table import figure_table
from shaketable.analyses.evidence.variability import Variability, variability
from shaketable.analyses.spread import CROSSES_ZERO, Level
from shaketable.analyses.tables import Tables


def asked(table: pl.DataFrame, *, level: Level = "per_question", ddof: int = 1) -> Variability:
    return variability(Tables(scores=table), level=level, ddof=ddof)


@pytest.mark.parametrize(
    ("level", "expected"), [("per_question", 0.0677083), ("ratio_of_means", 0.0625), ("across_questions", 0.1285649)]
)
def test_the_worked_example_of_the_specification_comes_out(level: Level, expected: float) -> None:
    (spread,) = asked(score_rows(TWO_QUESTIONS), level=level).spreads
    assert spread.cv.value == pytest.approx(expected, abs=1e-7)


def test_the_stability_baseline_of_the_specification_comes_out() -> None:
    wanted = (0, 0.004, 0.006, 0.008, 0.010, 0.012, 0.015, 0.030, 0.060, 0.090, 0.120)
    # Two runs at 1 ± d have the mean 1 and, with ddof 1, the standard deviation d √2.
    table = pl.concat(
        [
            score_rows({"q1": (1 - cv / math.sqrt(2), 1 + cv / math.sqrt(2))}, temperature=step / 5)
            for step, cv in enumerate(wanted)
        ]
    )
    disturbed = score_rows({"q1": (0.5, 1.5)}, perturbation="sentence_removal")
    spreads = asked(pl.concat([table, disturbed])).spreads
    assert {round(spread.baseline or 0.0, 7) for spread in spreads} == {0.0322727}


def test_a_mean_of_zero_has_no_variation_and_says_why() -> None:
    (spread,) = asked(score_rows({"q1": (0.0, 0.0), "q2": (0.0, 0.0)})).spreads
    assert (spread.cv.value, spread.cv.reason, spread.n_zero_mean) == (None, "the mean is 0", 2)


def test_questions_with_a_mean_of_zero_are_left_out_and_counted() -> None:
    (spread,) = asked(score_rows({"q1": (0.0, 0.0), "q2": (1.0, 0.5)})).spreads
    # sd of (1, 0.5) with ddof 1 is 0.3535534, its mean 0.75.
    assert spread.cv.value == pytest.approx(0.4714045, abs=1e-7)
    assert (spread.cv.n, spread.n_zero_mean) == (1, 1)


@pytest.mark.parametrize("ddof", [0, 1])
def test_a_single_run_has_no_variation(ddof: int) -> None:
    (spread,) = asked(score_rows({"q1": (0.5,), "q2": (0.6,)}), ddof=ddof).spreads
    assert (spread.cv.value, spread.cv.reason) == (None, "a single run")


def test_runs_that_agree_do_not_vary() -> None:
    (spread,) = asked(score_rows({"q1": (0.7, 0.7), "q2": (0.2, 0.2)})).spreads
    assert (spread.cv.value, spread.cv.low, spread.cv.high) == (0, 0, 0)


def test_the_number_that_is_spoken_of_is_the_main_one_or_the_one_asked_for() -> None:
    shares = score_rows({"q1": (1.0, 0.0), "q2": (1.0, 1.0)}, metric="contains", temperature=1.0)
    tables = Tables(scores=pl.concat([shares, score_rows(TWO_QUESTIONS, temperature=1.0)]))
    assert (variability(tables).metric, variability(tables).unit) == ("contains", "share")
    chosen = variability(tables, metric="bertscore")
    assert (chosen.metric, chosen.unit) == ("bertscore", "score")


def test_an_empty_table_gives_an_empty_result() -> None:
    result = asked(score_rows({"q1": (1.0,)}).clear())
    assert (result.metric, result.spreads, result.contrasts) == (None, (), ())


@pytest.mark.parametrize("level", ["per_question", "ratio_of_means", "across_questions"])
def test_a_metric_that_crosses_zero_has_no_variation_and_says_why(level: Level) -> None:
    """Means near 0 gave coefficients of 14 and more: declared by bertscore_rescaled, found in scores from elsewhere."""
    near_zero = {"q1": (-0.2, 0.25), "q2": (0.1, 0.3)}
    for metric in ("bertscore_rescaled", "from_elsewhere"):
        table = score_rows(near_zero, metric=metric)
        result = asked(table, level=level)
        assert {(spread.cv.value, spread.cv.reason) for spread in result.spreads} == {(None, CROSSES_ZERO)}
        assert result.crossing_zero == (metric,)
        assert figure_table(table, metric, level=level)["cv"].to_list() == [None]
    declared = asked(score_rows({"q1": (0.5, 0.6)}, metric="bertscore_rescaled"), level=level)
    assert declared.spreads[0].cv.value is None


def test_types_of_question_are_compared_by_their_variation() -> None:
    """By hand: over all, q1 has a mean CV of (0.10 + 0.30 + 0.14 + 0.34) / 4 = 0.22 and q2 of 0.17; at temperature 0
    both have 0.12, at temperature 1 they have 0.32 and 0.22."""
    contrasts = asked(spread_study()).contrasts
    assert {(contrast.type, contrast.other) for contrast in contrasts} == {("comparison", "bridge")}
    differences = {contrast.cell.temperature: round(contrast.difference.value or 0.0, 9) for contrast in contrasts}
    assert differences == {None: -0.05, 0.0: 0, 1.0: -0.1}
