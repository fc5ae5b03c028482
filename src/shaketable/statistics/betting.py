"""E-values and confidence sequences for the mean of values in [-1, 1]: they hold at every moment, whenever one stops.

Whoever doubts that a mean is at most m may bet on it: of a fair game nobody gets rich, so a bettor who did has shown
that it is not (Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86, 2024).
The bettor here spreads the money over fixed stakes. What is won does not depend on the order of the values, only that
each was drawn like the others whatever was seen before.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

STAKES = np.array([0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
"""Shares of the money that are risked in each round, an equal part of the money each. None is 1: a single value of -1
would take all."""
N_HALVINGS = 24
"""Of the range, until a bound is known to more digits than anyone reads."""
CLAIMING = 0.9
"""How much of the error that is allowed an interval spends on its lower end, which claims are made of; the rest bounds
how large the mean may be."""
LARGEST = 690.0
"""Of the logarithm of an e-value that is told: e to it is a number still."""
MOST_VALUES = 1000
"""That a forecast looks at."""


def log_evidence(values: Sequence[float], mean: float = 0.0) -> float:
    """The logarithm of the e-value against a true mean of at most this: what a stake of 1 has become.

    Its chance to be log(1/a) or more at any moment is at most a where the mean is no more than that.
    """
    given = np.asarray(values, dtype=np.float64)
    won = np.log1p(np.outer(STAKES, (given - mean) / (1 + mean))).sum(axis=1)
    return _log_mean(won)


def lower_bound(values: Sequence[float], error: float) -> float:
    """The largest mean that the values are evidence against; the chance that it ever exceeds the truth is at most the
    error."""
    bar = -math.log(error)
    low, high = -1.0, 1.0
    if not len(values):
        return low
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2
        if log_evidence(values, middle) >= bar:
            low = middle
        else:
            high = middle
    return low


def confidence_sequence(values: Sequence[float], error: float) -> tuple[float, float]:
    """Both bounds of a mean: the chance that it is ever outside is at most the error."""
    low = lower_bound(values, CLAIMING * error)
    high = -lower_bound([-value for value in values], (1 - CLAIMING) * error)
    return low, max(low, high)


def e_value(values: Sequence[float]) -> float:
    """What a bettor who began with 1 has won against a mean of 0 or less."""
    return math.exp(min(log_evidence(values), LARGEST))


def e_value_needed(error: float) -> float:
    """From which on the lower end of the confidence sequence lies above 0."""
    return 1 / (CLAIMING * error)


def is_claimed(values: Sequence[float], error: float) -> bool:
    """Whether the lower end of the confidence sequence lies above 0."""
    return log_evidence(values) >= -math.log(CLAIMING * error)


# --- what could have been seen --------------------------------------------------------------------


def chance_to_claim(loss: float, gains: float, n: int, error: float) -> float:
    """That n values show a mean of `loss`, where a share of `gains` is -1, as many more are 1, and the others are 0."""
    if not 0 <= gains <= loss + 2 * gains <= 1:
        return 0.0
    ups, downs = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    is_possible = ups + downs <= n
    ups, downs = ups[is_possible], downs[is_possible]
    won = np.outer(np.log1p(STAKES), ups) + np.outer(np.log1p(-STAKES), downs)
    highest = won.max(axis=0)
    wealth = highest + np.log(np.exp(won - highest).mean(axis=0))
    shown = wealth >= -math.log(CLAIMING * error)
    return float(_trinomial(n, ups[shown], downs[shown], loss + gains, gains).sum())


@functools.lru_cache(1024)
def detectable_mean(gains: float, n: int, error: float, power: float = 0.8) -> float | None:
    """The smallest mean that n values show with this chance; None: not even the largest."""
    low, high = 0.0, 1 - 2 * gains
    if chance_to_claim(high, gains, n, error) < power:
        return None
    while high - low > 0.001:
        middle = (low + high) / 2
        if chance_to_claim(middle, gains, n, error) < power:
            low = middle
        else:
            high = middle
    return high


def n_to_claim(loss: float, gains: float, error: float, power: float = 0.9) -> int | None:
    """Values that show such a mean with this chance; None: more than anyone would forecast."""
    low, high = 0, 8
    while chance_to_claim(loss, gains, high, error) < power:
        low, high = high, 2 * high
        if high > MOST_VALUES:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if chance_to_claim(loss, gains, middle, error) < power:
            low = middle
        else:
            high = middle
    return high


def _trinomial(
    n: int, ups: NDArray[np.int64], downs: NDArray[np.int64], p_up: float, p_down: float
) -> NDArray[np.float64]:
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    rest = n - ups - downs
    ways = factorials[n] - factorials[ups] - factorials[downs] - factorials[rest]
    p_rest = max(1 - p_up - p_down, 0.0)
    logs = ways
    for count, p in ((ups, p_up), (downs, p_down), (rest, p_rest)):
        logs = logs + np.where(count > 0, count * math.log(max(p, 1e-300)), 0.0)
    chances: NDArray[np.float64] = np.exp(logs)
    return chances


def _log_mean(logs: NDArray[np.float64]) -> float:
    highest = float(logs.max())
    return highest + math.log(float(np.exp(logs - highest).mean()))
