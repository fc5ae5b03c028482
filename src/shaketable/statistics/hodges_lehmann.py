"""The Hodges–Lehmann shift of paired differences, with its bootstrap interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from shaketable.identity import seed_from
from shaketable.statistics.intervals import Bootstrap, Numbers, alike
from shaketable.types import Estimate, Unit

Drawn = NDArray[np.uint16]
Counts = NDArray[np.float32] | NDArray[np.float64]
DUST = 1e-13
"""Less than the differences can differ by, more than a subtraction can lose."""
DRAWN_AT_ONCE = 100
"""Resamples; drawn in parts, the numbers are the same."""
MOST_PAIRED = 1024
"""Values of which all averages are made: half a million."""


def shift(differences: Numbers) -> float:
    """The median of all Walsh averages (d_i + d_j) / 2, i ≤ j."""
    values, weights = np.unique(differences, return_counts=True)
    n = len(differences) * (len(differences) + 1) // 2
    lower = _smallest(values, lambda t: _n_pairs(values, weights, t) >= (n + 1) // 2)
    upper = lower if n % 2 else _smallest(values, lambda t: _n_pairs(values, weights, t) >= n // 2 + 1)
    return (lower + upper) / 2


def shift_estimates(
    values: Numbers, question_ids: Sequence[str], bootstrap: Bootstrap, *, unit: Unit = "score"
) -> list[Estimate]:
    """The shift of each row of values (conditions × questions).

    NaN stands for a question without a value. The draws are those of `Bootstrap`.
    """
    is_known = ~np.isnan(values)
    estimates = np.full((len(values), 3), np.nan)
    for rows, columns in alike(is_known):
        drawn = _counts([question_ids[i] for i in columns], bootstrap.n_resamples) if len(columns) > 1 else None
        for i in rows:
            differences = values[i, columns]
            estimates[i, 0] = shift(differences)
            if drawn is not None:
                estimates[i, 1:] = _bounds(differences, drawn, bootstrap.confidence)
    counts = is_known.sum(axis=1).tolist()
    return [bootstrap.estimate(*row, n=n, unit=unit) for row, n in zip(estimates.tolist(), counts, strict=True)]


def _counts(question_ids: Sequence[str], n_resamples: int) -> Drawn:
    """How often each question was drawn, questions × resamples."""
    n, rng = len(question_ids), np.random.default_rng(seed_from("bootstrap", *question_ids))
    counts = np.empty((n, n_resamples), np.uint16)
    for start in range(0, n_resamples, DRAWN_AT_ONCE):
        size = min(DRAWN_AT_ONCE, n_resamples - start)
        places = rng.integers(0, n, (size, n)) * size + np.arange(size)[:, None]
        counts[:, start : start + size] = np.bincount(places.ravel(), minlength=n * size).reshape(n, size)
    return counts


def _bounds(differences: Numbers, drawn: Drawn, confidence: float) -> tuple[float, float]:
    """Percentile bounds, without the Walsh averages of any resample.

    The median of a resample is at most t if half of its Walsh averages are. How many are follows from how often each
    question was drawn, and every bound is a Walsh average of the sample, so some steps of bisection find it. Where a
    resample has two medians the lower one counts below and the upper one above.
    """
    order = np.argsort(differences, kind="stable")
    values, first = np.unique(differences[order], return_index=True)
    # Pairs of questions are counted; beyond 2^24 a 32-bit number skips some.
    number = np.float32 if len(differences) ** 2 < 2**24 else np.float64
    # Questions that differ alike are drawn as one.
    counts: Counts = np.add.reduceat(drawn[order], first, axis=0, dtype=number)
    n_averages = len(differences) * (len(differences) + 1) // 2
    tail = (1 - confidence) / 2
    up_to = np.concatenate([np.zeros((1, counts.shape[1]), counts.dtype), np.cumsum(counts, axis=0)])
    low = _quantile(tail, (n_averages + 1) // 2, values, counts, up_to)
    high = _quantile(1 - tail, n_averages // 2 + 1, values, counts, up_to)
    return low, high


def _quantile(share: float, rank: int, values: Numbers, counts: Counts, up_to: Counts) -> float:
    """The smallest average t such that in this share of resamples the Walsh average of this rank is at most t."""
    needed: float = share * counts.shape[1] - DUST

    def is_reached(t: float) -> bool:
        nonlocal counts, up_to, needed
        pairs = _n_pairs_drawn(values, counts, up_to, t)
        at_most = pairs >= rank
        n_at_most = int(at_most.sum())
        is_so: bool = n_at_most >= needed
        # Resamples whose side is settled need no second look.
        undecided = at_most if is_so else ~at_most
        needed -= 0 if is_so else n_at_most
        counts, up_to = counts[:, undecided], up_to[:, undecided]
        return is_so

    return _smallest(values, is_reached)


def _smallest(values: Numbers, is_reached: Callable[[float], bool]) -> float:
    """The smallest Walsh average of ascending values at which something is reached that stays so above it.

    All averages of few values are made and sorted. Of many they would fill the memory: the line between the outermost
    values is halved instead, until one average is left.
    """
    if len(values) <= MOST_PAIRED:
        one, other = np.triu_indices(len(values))
        averages = np.unique((values[one] + values[other]) / 2)
        first, last = 0, len(averages) - 1
        while first < last:
            middle = (first + last) // 2
            first, last = (first, middle) if is_reached(float(averages[middle])) else (middle + 1, last)
        return float(averages[first])
    low, high = float(values[0]), float(values[-1])
    if is_reached(low):
        return low
    while high - low > DUST and low < (half := (low + high) / 2) < high:
        low, high = (low, half) if is_reached(half) else (half, high)
    partners = np.searchsorted(values, 2 * (high + DUST) - values, side="right") - 1
    return float(((values + values[partners]) / 2)[partners >= 0].max())


def _n_pairs(values: Numbers, weights: NDArray[np.int64], t: float) -> float:
    """Walsh averages that are at most t; each value stands for so many."""
    up_to = np.concatenate([[0], np.cumsum(weights)])[:, None].astype(np.float64)
    return float(_n_pairs_drawn(values, weights[:, None].astype(np.float64), up_to, t)[0])


def _n_pairs_drawn(values: Numbers, counts: Counts, up_to: Counts, t: float) -> Counts:
    """The same of each resample."""
    reach = np.searchsorted(values, 2 * t - values + DUST, side="right")
    # Ordered pairs count every pair twice, save that of a draw with itself.
    pairs: Counts = np.einsum("ib,ib->b", counts, up_to[reach])
    pairs += up_to[np.searchsorted(values, t + DUST, side="right")]
    return pairs / 2
