"""Tests by ranks and of groups of different questions, with their odd cases settled.

scipy takes its time to import, so each test imports its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shaketable.identity import seed_from
from shaketable.statistics.intervals import ROUNDING, Numbers

MOST_TIED = 13
"""Up to so many differences ties keep an exact p: all of their 2^13 signs are tried, as scipy does one by one."""
N_SHUFFLES = 9_999
MOST_SHUFFLED = 200
"""Of two larger groups a shuffle says the same as Welch's t, and takes longer."""


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


def two_groups(first: Numbers, second: Numbers) -> float:
    """Two-sided p that the means of two groups of different questions differ; NaN below two questions in a group.

    Questions are shuffled between the groups. Studentized as Welch does it, this holds also where the groups differ in
    size and noise (Chung and Romano 2013, "Exact and asymptotically robust permutation tests"). Large groups are tested
    by Welch's t itself.
    """
    n, m = len(first), len(second)
    if min(n, m) < 2:
        return float("nan")
    if min(n, m) > MOST_SHUFFLED:
        from scipy import stats

        return float(stats.ttest_ind(first, second, equal_var=False).pvalue)
    values = np.concatenate([first, second])
    values = values - values.mean()
    observed = float(_welch(values, np.arange(n + m)[None] < n)[0])
    rng = np.random.default_rng(seed_from("two_groups", n, m))
    blocks = (rng.random((N_SHUFFLES // 9, n + m)).argsort(axis=1) < n for _ in range(9))
    n_reached = sum(int((_welch(values, in_first) >= observed * (1 - 1e-9)).sum()) for in_first in blocks)
    return (n_reached + 1) / (N_SHUFFLES + 1)


def _welch(values: Numbers, in_first: NDArray[np.bool_]) -> Numbers:
    """The size of Welch's t for each way to deal values; very large, not infinite, where groups have no noise."""
    means, noise = [], np.zeros(len(in_first))
    for dealt in (in_first, ~in_first):
        n = int(dealt[0].sum())
        means.append(dealt @ values / n)
        noise += (dealt @ values**2 / n - means[-1] ** 2) / (n - 1)
    size: Numbers = np.round(np.abs(means[0] - means[1]), ROUNDING) / np.sqrt(np.maximum(noise, 1e-15))
    return size
