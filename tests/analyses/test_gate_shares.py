"""A threshold on a share passes in at most 5 % of runs whose truth is the limit: enumerated, not simulated."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from shaketable.analyses.gate.quantities import Quantity, Threshold
from shaketable.analyses.gate.verdicts import judge
from shaketable.factors import Cell
from shaketable.statistics.intervals import Numbers
from shaketable.types import Gate

N_QUESTIONS = (20, 21, 29, 30, 44, 60, 83, 100, 147, 200, 314, 500)
LIMITS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


def passing(values: Numbers, threshold: Threshold, limit: float) -> Numbers:
    """Which of the outcomes (rows of questions) pass."""
    quantity = Quantity(
        threshold=threshold,
        metric="contains",
        unit="share",
        cells=(Cell(dataset="table"),) * len(values),
        question_ids=tuple(map(str, range(values.shape[1]))),
        values=values,
    )
    return np.array([check.passes for check in judge([quantity], Gate(**{threshold: limit})).checks])


@pytest.mark.parametrize("n", N_QUESTIONS)
def test_a_share_at_the_limit_passes_in_at_most_one_run_of_twenty(n: int) -> None:
    right = np.tri(n + 1, n, -1)
    for limit in LIMITS:
        fewer = stats.binom.pmf(np.arange(n + 1), n, 1 - limit)
        assert fewer @ passing(right, "min_accuracy", 1 - limit) <= 0.05
        more = stats.binom.pmf(np.arange(n + 1), n, limit)
        assert more @ passing(right, "max_flip_rate", limit) <= 0.05


@pytest.mark.parametrize("n", [30, 60, 200])
def test_a_good_run_passes_where_a_share_allows_it(n: int) -> None:
    """Nobody is served by a bound that never lets pass: everything right is shown to be above 90 %."""
    assert passing(np.ones((1, n)), "min_accuracy", 0.9).all()


@pytest.mark.parametrize(("n", "runs"), [(20, 2), (60, 2), (20, 3), (30, 3)])
@pytest.mark.parametrize("ruined", [0.0, 0.03, 0.1, 0.4])
@pytest.mark.parametrize("noise", [0.0, 0.02, 0.1, 0.3])
def test_repeats_of_a_question_do_not_count_as_questions(n: int, runs: int, ruined: float, noise: float) -> None:
    """Some questions are always wrong, the others now and then: every outcome of all runs, with its chance."""
    truth = (1 - ruined) * (1 - noise)
    if truth == 1:
        return
    chances = (1 - ruined) * stats.binom.pmf(np.arange(runs + 1), runs, 1 - noise)
    chances[0] += ruined
    counts = np.array([own for own in itertools.product(range(n + 1), repeat=runs) if sum(own) <= n])
    counts = np.column_stack([n - counts.sum(axis=1), counts])
    outcomes = np.array([np.repeat(np.arange(runs + 1) / runs, row) for row in counts])
    chance = stats.multinomial.pmf(counts, n, chances)
    assert chance.sum() == pytest.approx(1)
    assert chance @ passing(outcomes, "min_accuracy", truth) <= 0.05
    assert chance @ passing(1 - outcomes, "max_flip_rate", 1 - truth) <= 0.05
