"""How much repeats differ, by simulation with known truth: coefficients of scores, flip rates of shares."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from score_rows import score_rows

from shaketable.analyses.conditions import by_question
from shaketable.analyses.evidence.variability import variability
from shaketable.analyses.spread import stability_baselines, without_bias
from shaketable.analyses.tables import Tables
from shaketable.statistics.intervals import Bootstrap

SHAPES = ((20, 5), (8, 2), (5, 3), (4, 4), (3, 5), (2, 2))
"""Of beta distributions, bounded scores whose true coefficients go from 0.10 to 0.45."""
N = 4000


def coefficients(values: np.ndarray) -> tuple[float, float]:
    """The corrected mean coefficient of these questions × runs, and the plain one."""
    n_runs = values.shape[1]
    runs = pl.DataFrame({"mean": values.mean(axis=1), "sd": values.std(axis=1, ddof=1)})
    questions = without_bias(runs.with_columns(n_runs=pl.lit(n_runs)))
    return float(questions["cv"].mean()), float((runs["sd"] / runs["mean"]).mean())


@pytest.mark.parametrize("n_runs", [3, 5, 10])
@pytest.mark.parametrize("shape", SHAPES)
def test_bounded_scores_have_little_bias(shape: tuple[int, int], n_runs: int) -> None:
    a, b = shape
    truth = math.sqrt(a * b / (a + b + 1)) / a
    corrected, _ = coefficients(np.random.default_rng(a * 100 + n_runs).beta(a, b, (20_000, n_runs)))
    assert abs(corrected / truth - 1) < 0.04


def test_the_plain_coefficient_of_three_runs_has_more_bias() -> None:
    errors = []
    for a, b in SHAPES:
        truth = math.sqrt(a * b / (a + b + 1)) / a
        corrected, plain = coefficients(np.random.default_rng(a).beta(a, b, (20_000, 3)))
        errors.append((abs(corrected / truth - 1), abs(plain / truth - 1)))
    assert max(corrected for corrected, _ in errors) < max(plain for _, plain in errors) / 2


@pytest.mark.parametrize("n_runs", [2, 3, 10])
@pytest.mark.parametrize("p", [0.3, 0.5, 0.9])
def test_flip_rates_of_shares_have_no_bias(p: float, n_runs: int) -> None:
    runs = (np.random.default_rng(round(100 * p) + n_runs).random((N, n_runs)) < p).astype(float)
    scores = score_rows({f"q{i}": tuple(own) for i, own in enumerate(runs.tolist())}, metric="correct")
    flips = without_bias(by_question(scores))["flips"]
    assert float(flips.mean()) == pytest.approx(2 * p * (1 - p), abs=0.025)
    assert 0 <= float(flips.min()) <= float(flips.max()) <= 1


def test_shares_show_flip_rates_and_scores_coefficients() -> None:
    """By hand: of 3 runs 2 right, two of three pairs differ; never right is no flip, and no missing coefficient."""
    shares = score_rows({"a": (1.0, 1.0, 0.0), "b": (0.0, 0.0, 0.0)}, metric="correct")
    scores = score_rows({"a": (0.9, 0.8, 0.7), "b": (0.5, 0.5, 0.5)}, metric="bertscore")
    found = {own.metric: own for own in variability(Tables(scores=pl.concat([shares, scores]))).spreads}
    assert (found["correct"].cv.unit, found["correct"].cv.n, found["correct"].n_zero_mean) == ("share", 2, 0)
    assert found["correct"].cv.value == pytest.approx((2 / 3 + 0) / 2)
    assert found["correct"].published_cv.value == pytest.approx(math.sqrt(1 / 3) / (2 / 3)), "As published: of one."
    assert found["bertscore"].cv.unit == "ratio"
    [baseline] = stability_baselines(shares, "correct", Bootstrap()).values()
    assert (baseline.unit, baseline.value) == ("share", pytest.approx(1 / 3))
