"""Bounds of means over questions in closed form, for many conditions at once, and the tests that agree with them.

Values are conditions × questions, NaN where a question has none. `tail` is what may lie beyond one bound: 0.025 below
and above leaves 95 % between.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]
DUST = 1e-12
"""Less than any spread that tells something; the smallest p too."""
N_HALVINGS = 32
"""Of the exponent of p, until neighbours differ by less than its last digits."""


class Bounded(Protocol):
    """Means of conditions that can say how far away the truth may be."""

    def at(self, tail: float | Numbers) -> tuple[Numbers, Numbers]:
        """Lower and upper bound of each condition; NaN where there are too few questions."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Student:
    """Means that are bounded by Student's t, and by what the skewness of the questions makes of it.

    A few very bad answers make the mean of a sample without them look both good and sure. Hall's transformation (1992)
    moves the bounds towards the long tail as a studentized bootstrap does, without draws; where tails are long on
    both sides plain t is wider. The wider one counts.
    """

    value: Numbers
    error: Numbers
    """Standard error of the mean."""
    skewness: Numbers
    """Of the mean: third central moment of the questions / √n."""
    freedom: Numbers

    def at(self, tail: float | Numbers) -> tuple[Numbers, Numbers]:
        from scipy import special

        t = -special.stdtrit(self.freedom, tail)
        low = self.value - self.error * np.maximum(t, self._skewed(t))
        high = self.value + self.error * np.maximum(t, -self._skewed(-t))
        return low, high

    def _skewed(self, t: Numbers) -> Numbers:
        """The studentized mean that Hall's cubic maps to t."""
        is_skewed = np.abs(self.skewness) > 1e-6
        skewness = np.where(is_skewed, self.skewness, 1.0)
        moved = 3 / skewness * (np.cbrt(1 + skewness * (t - skewness / 6)) - 1)
        return np.where(is_skewed, moved, t)


def bound_means(values: Numbers) -> Student:
    """The mean of each condition."""
    n, mean, variance, third = _moments(values)
    error = np.sqrt(variance / n)
    return Student(value=mean, error=error, skewness=_skewness(third / n**2, variance * (n - 1) / n**2), freedom=n - 1)


def bound_group_difference(first: Numbers, second: Numbers) -> Student:
    """The mean of one group minus that of another, with unequal spreads (Welch)."""
    n, means, variances, thirds = (np.concatenate(pair) for pair in zip(_moments(first), _moments(second), strict=True))
    squares = variances / n
    error = np.sqrt(squares.sum(keepdims=True))
    sizes = (squares**2 / (n - 1)).sum(keepdims=True)
    freedom = np.divide(error**4, sizes, out=np.ones(1), where=sizes > 0)
    third = thirds[:1] / n[0] ** 2 - thirds[1:] / n[1] ** 2
    skewness = _skewness(third, (squares * (n - 1) / n).sum(keepdims=True))
    return Student(value=means[:1] - means[1:], error=error, skewness=skewness, freedom=freedom)


def p_noninferior(losses: Bounded, delta: float) -> Numbers:
    """Of the claim that less than delta is lost: below a exactly where the upper bound at tail a is below delta."""
    return _smallest_tail(lambda tail: losses.at(tail)[1] < delta, losses.at(0.5)[1])


def p_equivalent(differences: Bounded, delta: float) -> Numbers:
    """Of the claim that a difference lies inside ±delta: below a exactly where both bounds at tail a do."""
    above = _smallest_tail(lambda tail: differences.at(tail)[0] > -delta, differences.at(0.5)[0])
    return np.maximum(above, p_noninferior(differences, delta))


def _smallest_tail(is_inside: Callable[[Numbers], Flags], middle: Numbers) -> Numbers:
    """The smallest tail whose bound is inside, for each condition; 1 where none is, NaN where there is no bound."""
    outside, inside = np.full(len(middle), np.log10(DUST)), np.full(len(middle), np.log10(0.5))
    ever = is_inside(10.0**inside)
    for _ in range(N_HALVINGS):
        between = (outside + inside) / 2
        is_in = is_inside(10.0**between)
        inside, outside = np.where(is_in, between, inside), np.where(is_in, outside, between)
    return np.where(np.isnan(middle), np.nan, np.where(ever, 10.0**inside, 1.0))


def _moments(values: Numbers) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """How many questions, their mean, variance and third central moment; NaN where there are too few."""
    values = np.atleast_2d(values)
    is_known = ~np.isnan(values)
    n = is_known.sum(axis=1).astype(np.float64)
    mean = np.divide(np.where(is_known, values, 0).sum(axis=1), n, out=np.full_like(n, np.nan), where=n > 0)
    centered = np.where(is_known, values - mean[:, None], 0)
    squares = (centered**2).sum(axis=1)
    variance = np.divide(squares, n - 1, out=np.full_like(n, np.nan), where=n > 1)
    third = np.divide((centered**3).sum(axis=1), n, out=np.full_like(n, np.nan), where=n > 0)
    return n, mean, variance, third


def _skewness(third: Numbers, variance: Numbers) -> Numbers:
    """Of a mean, from its own third moment and variance."""
    return np.divide(third, variance**1.5, out=np.zeros_like(variance), where=variance > DUST**2)
