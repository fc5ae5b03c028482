"""The tests that several analyses use, as scipy and statsmodels have them, with their odd cases settled.

Both libraries take their time to import, so each test imports its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shaketable.statistics.intervals import Numbers

MOST_TIED = 13
"""Up to so many differences ties keep an exact p: all of their 2^13 signs are tried, as scipy does one by one."""


def signed_rank(differences: Numbers) -> tuple[float, float]:
    """Wilcoxon's W+ and one-sided p that differences are positive: exact where that can be, else normal.

    Zeros say nothing and are left out. Where all are zero nothing speaks for a difference, and p is 1.
    """
    from scipy import stats

    nonzero = differences[differences != 0]
    if not len(nonzero):
        return 0.0, 1.0
    test: Any
    if len(nonzero) <= MOST_TIED and len(np.unique(np.abs(nonzero))) < len(nonzero):
        signed = np.sign(nonzero) * stats.rankdata(np.abs(nonzero))
        test = stats.permutation_test(
            (signed,),
            lambda ranks, axis: np.maximum(ranks, 0).sum(axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=2**MOST_TIED,
            alternative="greater",
        )
    else:
        test = stats.wilcoxon(nonzero, alternative="greater")
    return float(test.statistic), float(test.pvalue)


def equivalence_test(differences: Numbers, delta: float) -> float:
    """p of two one-sided paired t tests (TOST) that the mean lies inside ±delta."""
    if not np.ptp(differences):  # Without any spread the t statistic is infinite.
        return float(abs(differences[0]) >= delta)
    from statsmodels.stats.weightstats import ttost_paired

    return float(ttost_paired(differences, np.zeros_like(differences), -delta, delta)[0])


def difference_test(differences: Numbers) -> float:
    """Two-sided p of the paired t test that the mean is not 0."""
    if not np.ptp(differences):
        return float(differences[0] == 0)
    from scipy import stats

    return float(stats.ttest_1samp(differences, 0.0).pvalue)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's adjusted p values, in the same order; None stays None and is not counted."""
    given = np.array([p for p in p_values if p is not None], dtype=float)
    # statsmodels has it too, but collects garbage on each call, which takes longer than the analysis around it.
    order = np.argsort(given, kind="stable")
    steps = np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1))
    adjusted = np.empty_like(given)
    adjusted[order] = np.minimum(steps, 1.0)
    in_order = iter(adjusted.tolist())
    return [None if p is None else next(in_order) for p in p_values]
