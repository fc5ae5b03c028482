from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from score_rows import TWO_QUESTIONS, score_rows, spread_study, two_runs

from shaketable.analyses.evidence.figure_table import figure_table
from shaketable.analyses.evidence.variability import Variability, variability
from shaketable.analyses.spread import CROSSES_ZERO, Level
from shaketable.analyses.tables import Tables
from shaketable.statistics.intervals import Bootstrap


def asked(table: pl.DataFrame, *, level: Level = "per_question", ddof: int = 1) -> Variability:
    return variability(Tables(scores=table), level=level, ddof=ddof)


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("per_question", 0.0677083),
        ("ratio_of_means", 0.0625),
        ("across_questions", 0.1285649),
        ("pooled", math.sqrt((0.01**2 + 0.1**2) / 2) / 0.88),
    ],
)
def test_the_worked_example_of_the_specification_comes_out_as_published(level: Level, expected: float) -> None:
    (spread,) = asked(score_rows(TWO_QUESTIONS), level=level).spreads
    assert spread.published_cv.value == pytest.approx(expected, abs=1e-7)


def test_the_bias_of_few_runs_is_taken_away() -> None:
    """By hand: c4 of 3 runs is √π / 2; sd / mean is 0.01 / 0.96 and 0.125, and 1 / mean of 3 runs is too large by
    2 (sd / 3 mean)². Three decimals do not see the latter in the first question."""
    (spread,) = asked(score_rows(TWO_QUESTIONS)).spreads
    by_hand = [own / (math.sqrt(math.pi) / 2) * (1 - 2 * (own / 3) ** 2) for own in (0.01 / 0.96, 0.125)]
    assert spread.cv.value == pytest.approx(sum(by_hand) / 2)
    (spread,) = asked(score_rows(TWO_QUESTIONS), level="ratio_of_means").spreads
    assert spread.cv.value == pytest.approx(0.0625 / (math.sqrt(math.pi) / 2))


@pytest.mark.parametrize("ddof", [0, 1])
def test_how_a_deviation_is_divided_matters_to_the_published_number_alone(ddof: int) -> None:
    (spread,) = asked(score_rows(TWO_QUESTIONS), ddof=ddof).spreads
    (other,) = asked(score_rows(TWO_QUESTIONS)).spreads
    assert spread.cv.value == pytest.approx(other.cv.value)
    assert spread.published_cv.value == pytest.approx(
        (other.published_cv.value or 0.0) * math.sqrt((3 - 1) / (3 - ddof))
    )


@pytest.mark.parametrize("n_runs", [2, 3, 10])
def test_pooled_variances_are_without_bias_also_where_answers_jump(n_runs: int) -> None:
    """Simulated: a tenth of the runs scores 0 instead of 1; the sd is √(0.1 · 0.9)."""
    runs = (np.random.default_rng(n_runs).random((2000, n_runs)) > 0.1).astype(float)
    (spread,) = asked(score_rows({f"q{i}": tuple(own) for i, own in enumerate(runs.tolist())}), level="pooled").spreads
    assert spread.cv.value == pytest.approx(0.3 / 0.9, abs=0.03)


@pytest.mark.parametrize("n_runs", [2, 3, 10])
def test_few_and_many_runs_estimate_the_same_spread(n_runs: int) -> None:
    """Simulated: means differ between questions, the deviation is 0.2 of each. Uncorrected: 0.162, 0.180, 0.195."""
    rng = np.random.default_rng(n_runs)
    means = rng.uniform(0.3, 0.9, (400, 1))
    runs = means * (1 + 0.2 * rng.standard_normal((400, n_runs)))
    (spread,) = asked(score_rows({f"q{i}": tuple(own) for i, own in enumerate(runs.tolist())})).spreads
    assert spread.cv.value == pytest.approx(0.2, abs=0.012)
    assert (spread.cv.low or 0.0) < 0.2 < (spread.cv.high or 0.0)


def test_the_stability_baseline_of_the_specification_comes_out() -> None:
    wanted = (0, 0.004, 0.006, 0.008, 0.010, 0.012, 0.015, 0.030, 0.060, 0.090, 0.120)
    table = pl.concat(
        [score_rows({id: two_runs(cv) for id in ("q1", "q2")}, temperature=step / 5) for step, cv in enumerate(wanted)]
    )
    disturbed = score_rows({"q1": (0.5, 1.5)}, perturbation="sentence_removal")
    spreads = asked(pl.concat([table, disturbed])).spreads
    baselines = {spread.baseline for spread in spreads}
    assert [round(own.value or 0.0, 7) for own in baselines if own is not None] == [0.0322727]


def test_the_stability_baseline_has_an_interval_over_questions() -> None:
    """Each question has its mean over temperatures: 0.1, 0.2 and 0.3; one that is missing once counts where it is."""
    cvs = {"q1": (0.05, 0.15), "q2": (0.1, 0.3), "q3": (0.2, 0.4)}
    table = pl.concat(
        [score_rows({id: two_runs(own[at]) for id, own in cvs.items()}, temperature=float(at)) for at in (0, 1)]
    )
    (spread, _) = asked(table).spreads
    (plain,) = Bootstrap().means(np.array([[0.1, 0.2, 0.3]]), list(cvs), unit="ratio")
    assert spread.baseline is not None and spread.baseline.value == pytest.approx(0.2)
    assert (spread.baseline.low, spread.baseline.high) == (0, pytest.approx(plain.high))  # No CV is below 0.
    without = table.filter((pl.col("question_id") != "q3") | (pl.col("temperature") == 0))
    (spread, _) = asked(without).spreads
    # (0.05 + 0.1 + 0.2) / 3 and (0.15 + 0.3) / 2.
    assert spread.baseline is not None and spread.baseline.value == pytest.approx((0.35 / 3 + 0.225) / 2)


def test_a_mean_of_zero_has_no_variation_and_says_why() -> None:
    (spread,) = asked(score_rows({"q1": (0.0, 0.0), "q2": (0.0, 0.0)})).spreads
    assert (spread.cv.value, spread.cv.reason, spread.n_zero_mean) == (None, "the mean is 0", 2)


def test_questions_with_a_mean_of_zero_are_left_out_and_counted() -> None:
    (spread,) = asked(score_rows({"q1": (0.0, 0.0), "q2": (1.0, 0.5)})).spreads
    # sd of (1, 0.5) with ddof 1 is 0.3535534, its mean 0.75.
    assert spread.published_cv.value == pytest.approx(0.4714045, abs=1e-7)
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


def test_types_that_vary_unlike_are_claimed_over_all_temperatures_alone() -> None:
    table = pl.concat(
        [
            score_rows({f"{type}{i}": two_runs(cv + i / 200) for i in range(8)}, type=type, temperature=at)
            for type, cv in (("bridge", 0.1), ("comparison", 0.3))
            for at in (0.5, 1.0)
        ]
    )
    result = asked(table)
    assert {contrast.cell.temperature: contrast.p is not None for contrast in result.contrasts} == {
        None: True,
        0.5: False,
        1.0: False,
    }
    (claim,) = result.claims()
    assert (claim.subject.cell.group, claim.subject.other) == ("comparison", "bridge")
    assert claim.p is not None and claim.p < 0.001


def test_the_largest_of_several_temperatures_is_drawn_towards_their_mean_and_its_interval_holds_for_all() -> None:
    """All temperatures have the same spread: the largest is so by chance."""
    rng = np.random.default_rng(2)
    table = pl.concat(
        [
            score_rows(
                {f"q{i}": tuple(0.5 * (1 + 0.2 * rng.standard_normal(3))) for i in range(24)}, temperature=float(at)
            )
            for at in range(7)
        ]
    )
    spreads = asked(table).spreads
    assert spreads[0].among is None  # Greedy answers are none of them.
    peak = max(spreads[1:], key=lambda spread: spread.cv.value or 0.0)
    assert peak.among is not None and (peak.among.value or 1.0) < (peak.cv.value or 0.0)
    assert (peak.among.high or 0.0) > (peak.cv.high or 1.0)
    assert peak.among.low is not None and peak.among.low < 0.2 < (peak.among.high or 0.0)
