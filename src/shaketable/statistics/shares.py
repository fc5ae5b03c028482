"""Intervals of shares whose questions agree, or almost.

Resamples of questions that agree do so too, as if no other question could differ. As many may differ as the exact
binomial bound (Clopper and Pearson) allows: none wrong of 30 is 0 to 12 %, not 0 to 0 %.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shaketable.statistics.bounds import Numbers


def widen_agreeing(shares: Numbers, n: int | NDArray[np.int64], tail: float) -> Numbers:
    """Value, low and high of shares, or of scores between 0 and 1, with width where all of n questions agree."""
    value, low, high = shares.T
    may_differ = 1 - tail ** (1 / np.maximum(n, 1))
    wide = np.stack([value, value * (1 - may_differ), value + (1 - value) * may_differ], axis=-1)
    return np.where((low == high)[:, None], wide, shares)


def widen_shares(shares: Numbers, n: int, tail: float) -> Numbers:
    """One wrong of 30 leaves no less open than none, so no share is bounded more closely."""
    value, low, high = widen_agreeing(shares, n, tail).T
    may_differ = 1 - tail ** (1 / n)
    return np.stack([value, np.minimum(low, 1 - may_differ), np.maximum(high, may_differ)], axis=-1)
