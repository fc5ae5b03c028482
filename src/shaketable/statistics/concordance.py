"""Kendall's tau where some values are known only to lie beyond the end of a scale."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from shaketable.statistics.intervals import Numbers

HOW = "jackknife over facts, on Fisher's scale"
FIELLER = 0.437
"""Variance of Fisher's z of tau, times n − 4, for normal scores (Fieller, Hartley and Pearson 1957)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Concordance:
    """NaN stands for none."""

    tau: float
    low: float
    high: float
    p: float
    """Two-sided, that both are unrelated; as scipy has it, ties included."""


def kendall(first: Numbers, second: Numbers, confidence: float) -> Concordance:
    """Kendall's tau-b of all pairs, with an interval; pairs that cannot be ordered are ties and count for neither side.

    Values that end together at the end of a scale are tied there and above all others. In simulated studies of normal
    scores tau-b comes within 0.02 of that without an end as long as 6 of 10 values or fewer lie beyond it and the
    correlation is moderate; that of the ordered pairs alone (Oakes, gamma) grows as more lie beyond.
    """
    n = len(first)
    agreeing, in_first, in_second = _pair_sums(first, second)
    tau = float(_tau(agreeing.sum(), in_first.sum(), in_second.sum()))
    if math.isnan(tau):
        return Concordance(tau=math.nan, low=math.nan, high=math.nan, p=math.nan)
    from scipy import stats

    p = float(stats.kendalltau(first, second).pvalue)
    if n < 5:
        return Concordance(tau=tau, low=math.nan, high=math.nan, p=p)
    # Each pair counts twice in the sums, and leaves with either of its two.
    without = _tau(*(sums.sum() - 2 * sums for sums in (agreeing, in_first, in_second)))
    most = 1 - 4 / (n * (n - 1))
    z, jackknifed = (np.arctanh(np.clip(np.nan_to_num(own), -most, most)) for own in (tau, without))
    variance = (n - 1) / n * float(((jackknifed - jackknifed.mean()) ** 2).sum())
    reach = stats.t.ppf((1 + confidence) / 2, n - 2) * math.sqrt(max(variance, FIELLER / (n - 4)))
    low, high = float(np.tanh(z - reach)), float(np.tanh(z + reach))
    return Concordance(tau=tau, low=min(low, tau), high=max(high, tau), p=p)


def _pair_sums(first: Numbers, second: Numbers) -> Numbers:
    """Of each value over its pairs: those that agree less those that do not, and those that each side orders."""
    sums = np.zeros((3, len(first)))
    for i in range(len(first)):
        a, b = np.sign(first - first[i]), np.sign(second - second[i])
        sums[:, i] = a @ b, a @ a, b @ b
    return sums


def _tau(agreeing: Numbers, in_first: Numbers, in_second: Numbers) -> Numbers:
    """NaN where one side does not vary."""
    spread = np.sqrt(np.asarray(in_first * in_second, dtype=np.float64))
    tau: Numbers = np.divide(agreeing, spread, out=np.full_like(spread, np.nan), where=spread > 0)
    return tau
