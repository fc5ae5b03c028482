"""How rankings by mean drops at several conditions agree."""

from __future__ import annotations

import numpy as np

from shaketable.statistics.intervals import ROUNDING, Indices, Numbers, Statistic, mean_of


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
