"""A confidence sequence for the mean over fixed questions whose answers are repeated: it holds whenever one stops.

Each answer is worth between 0 and 1 and is guessed from earlier answers to the same question; what counts is how far
the guesses were off, so that questions whose answers never change cost almost nothing. For any guess that was made
before the answer came, exp(λ Σ(x − p) − (−log(1 − λ) − λ) Σ(x − guess)²) is on average at most 1 (Fan, Grama and
Liu 2015; Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences",
Annals of Statistics 49, 2021, theorem 4). It is averaged over λ by a gamma density of 1 − λ: their gamma-exponential
mixture.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

TUNING = 2.0
"""Of the mixture, and the same for all: a width that is narrowed, or a run that is extended, by what was seen changes
no bound. Chosen by simulation: tight where the squares of what guesses are off by add up to about 100."""
PULL = 0.25
"""Answers that the mean of all questions counts as, in the guess for one of them; chosen by simulation."""
N_HALVINGS = 40


def log_mixture(excess: float, off: float, tuning: float = TUNING) -> float:
    """The logarithm of what the supermartingale, averaged over λ, has come to where the sum of answers lies `excess`
    above what it should be, and guesses were `off` by so much in squares."""
    from scipy import special

    shape, rate = off + tuning, excess + off + tuning
    inside = math.log(special.gammainc(shape, rate)) + math.lgamma(shape) - shape * math.log(rate)
    scale = math.log(special.gammainc(tuning, tuning)) + math.lgamma(tuning) - tuning * math.log(tuning)
    return float(excess + off + inside - scale)


@functools.lru_cache(4096)
def furthest(off: float, error: float) -> float:
    """How far the sum of answers ever lies above what it should be, but for a chance of `error`."""
    bar = -math.log(error)
    low, high = 0.0, 1.0
    while log_mixture(high, off) < bar:
        low, high = high, 2 * high
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2
        if log_mixture(middle, off) < bar:
            low = middle
        else:
            high = middle
    return high


def least_repeats(n_questions: float, half_width: float, level: float) -> int:
    """Before so many not even answers that are all right, or all wrong, give an interval as narrow as this."""
    return 1 + math.ceil(furthest(0.0, (1 - level) / 2) / (2 * half_width * n_questions) - 1e-9)


class RepeatedMean:
    """The mean over questions, from whole repeats. The first repeat makes guesses and does not count: before it
    nothing is known of a question, and to be off by half of each would cost more than it brings."""

    def __init__(self, weights: Sequence[float]) -> None:
        """`weights`: of each wording, 1 at most; those of one question add up to 1."""
        self.weights = np.asarray(weights, dtype=np.float64)
        self.sums, self.counts = np.zeros_like(self.weights), np.zeros_like(self.weights)
        self.n_repeats = 0
        self.weight = 0.0
        """Of the answers that count."""
        self.total = 0.0
        self.off = 0.0
        """Squares of answers minus guesses, weighted."""

    def add(self, values: Sequence[float] | NDArray[np.float64]) -> None:
        """One repeat of every wording; NaN where there is no answer, or none that can be scored."""
        given = np.asarray(values, dtype=np.float64)
        is_known = ~np.isnan(given)
        known = np.where(is_known, given, 0.0)
        if np.any((known < 0) | (known > 1)):
            raise ValueError("an answer is worth less than 0 or more than 1")
        if self.n_repeats:
            counted = np.where(is_known, self.weights, 0.0)
            self.off += float(np.sum((counted * (known - self._guesses())) ** 2))
            self.total += float(np.sum(counted * known))
            self.weight += float(np.sum(counted))
        self.sums += known
        self.counts += is_known
        self.n_repeats += 1

    def _guesses(self) -> NDArray[np.float64]:
        """Of each wording: its own mean so far, drawn a little towards that of all."""
        of_all = (self.sums.sum() + 0.5) / (self.counts.sum() + 1)
        guesses: NDArray[np.float64] = (self.sums + PULL * of_all) / (self.counts + PULL)
        return guesses

    @property
    def is_empty(self) -> bool:
        """Whether no answer has a value."""
        return not self.counts.any()

    def interval(self, level: float) -> tuple[float, float]:
        """It holds the mean at all repeats at once with this chance; nothing lies outside of 0 and 1."""
        if not self.weight:
            return 0.0, 1.0
        mean, radius = self.total / self.weight, furthest(self.off, (1 - level) / 2) / self.weight
        return max(mean - radius, 0.0), min(mean + radius, 1.0)
