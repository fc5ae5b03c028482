"""How rankings by mean drops at several conditions agree, and whether contrasts depend on the condition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shaketable.identity import seed_from
from shaketable.statistics.intervals import ROUNDING, Indices, Numbers, Statistic, mean_of


def interaction_test(contrasts: Numbers, question_ids: Sequence[str], n_permutations: int) -> list[float]:
    """p for each series of contrasts (series × temperatures × questions) that its mean depends on temperature.

    Every permutation shuffles the temperatures of each question; where there are fewer shuffles than asked for, all
    of them are tried.
    """
    from scipy import stats

    tested = stats.permutation_test(
        [contrasts[:, i] for i in range(contrasts.shape[1])],
        _spread,
        permutation_type="samples",
        vectorized=True,
        n_resamples=n_permutations,
        batch=100,
        alternative="greater",
        axis=-1,
        rng=np.random.default_rng(seed_from("permutation", *question_ids)),
    )
    return [float(p) for p in tested.pvalue]


def _spread(*samples: Numbers, axis: int) -> Numbers:
    """Σ over temperatures of (D(T) − mean D)², of samples that are one temperature each."""
    means = np.stack([sample.mean(axis=axis) for sample in samples])
    spread: Numbers = ((means - means.mean(axis=0)) ** 2).sum(axis=0)
    return spread


def rank_agreement(drops: Numbers, first: Indices, second: Indices) -> Statistic:
    """Kendall's tau-b of the mean drops (disturbances × temperatures × questions) at two temperatures each, for all
    resamples at once.

    scipy has it for one ranking at a time; the test compares them.
    """
    a, b = np.triu_indices(len(drops), k=1)
    means = [mean_of(of_disturbance) for of_disturbance in drops]

    def tau(drawn: Numbers) -> Numbers:
        at = np.round(np.stack([mean(drawn) for mean in means]), ROUNDING)
        signs = np.sign(at[a] - at[b])
        agreeing = (signs[:, first] * signs[:, second]).sum(axis=0)
        untied = (signs**2).sum(axis=0)
        possible = np.sqrt(untied[first] * untied[second])
        taus: Numbers = np.divide(agreeing, possible, out=np.full_like(agreeing, np.nan), where=possible > 0)
        return taus

    return tau


def ranks_of(values: Numbers) -> list[list[int | None]]:
    """Ranks along the first axis, 1 for the largest, equal ones alike; None where there is no value."""
    from scipy import stats

    ranks = stats.rankdata(-np.round(values, ROUNDING), method="min", axis=0, nan_policy="omit")
    return [[None if np.isnan(rank) else int(rank) for rank in line] for line in ranks]
