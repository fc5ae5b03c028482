"""What is left of a difference where answers are missing: it must stand had they been wrong on one side and right on
the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shaketable.statistics.intervals import ROUNDING, Numbers
from shaketable.types import Estimate

MOST_FAILED = 0.05
"""Of the answers of a condition: of more it matters what they would have scored."""
Test = Callable[[Numbers], Sequence[float]]
"""Differences (conditions × questions, NaN: none) → a p for each condition."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WorstCase:
    """Of one condition."""

    p: float
    """The largest of the three; NaN: there was nothing to test."""
    low: float | None = None
    """The lesser mean of the two fillings; None: too few are missing to matter."""
    high: float | None = None


def is_uncertain(n_failed: NDArray[np.int64], n_scored: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether too many answers of a condition failed to leave them out without a word."""
    uncertain: NDArray[np.bool_] = n_failed > MOST_FAILED * (n_failed + n_scored)
    return uncertain


def worst_p(tested: Sequence[tuple[Estimate | None, float | None]]) -> float | None:
    """Of one difference as it is and with the missing filled in: the largest p, 1 where the signs differ."""
    known = [(own.value, p) for own, p in tested if own and own.value is not None and p is not None]
    if len(known) < len(tested):
        return None
    return max(p for _, p in known) if len({np.sign(value) for value, _ in known}) == 1 else 1.0


def worst_cases(
    values: Numbers,
    filled: tuple[Numbers, Numbers],
    is_uncertain: NDArray[np.bool_],
    test: Test,
    *,
    keeps_sign: bool = True,
) -> list[WorstCase]:
    """The p of differences, and where much is missing the largest of it and of those with the missing filled in.

    `filled`: the least and the greatest that the differences could be, each side's missing answers as bad or as good as
    can be.
    `keeps_sign`: a difference whose sign depends on what is missing shows nothing, so its p is 1; a test of equivalence
    has no sign to keep.
    """
    cases = [WorstCase(p=float(p)) for p in test(values)]
    rows = np.flatnonzero(is_uncertain & ~np.isnan(values).all(axis=1))
    if not len(rows):
        return cases
    means = np.stack([np.round(np.nanmean(own[rows], axis=1), ROUNDING) for own in (values, *filled)])
    ps = np.stack([[cases[i].p for i in rows], *(test(own[rows]) for own in filled)])
    is_turned = keeps_sign & (np.ptp(np.sign(means), axis=0) > 0)
    for i, p, low, high in zip(
        rows, np.where(is_turned, 1.0, ps.max(axis=0)), means[1:].min(axis=0), means[1:].max(axis=0), strict=True
    ):
        cases[i] = WorstCase(p=float(p), low=float(low), high=float(high))
    return cases
