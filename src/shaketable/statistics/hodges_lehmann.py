"""The Hodges–Lehmann shift of paired differences, with its bootstrap interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shaketable.identity import seed_from
from shaketable.statistics.intervals import Bootstrap, Numbers, alike
from shaketable.types import Estimate, Unit

Counts = NDArray[np.float32] | NDArray[np.float64]
DUST = 1e-13
"""Less than the differences can differ by, more than a subtraction can lose."""


def shift(differences: Numbers) -> float:
    """The median of all Walsh averages (d_i + d_j) / 2, i ≤ j."""
    return float(np.median(_walsh_averages(differences)))


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


def _walsh_averages(differences: Numbers) -> Numbers:
    first, second = np.triu_indices(len(differences))
    averages: Numbers = (differences[first] + differences[second]) / 2
    return averages


def _counts(question_ids: Sequence[str], n_resamples: int) -> Counts:
    """How often each question was drawn, questions × resamples."""
    n = len(question_ids)
    drawn = np.random.default_rng(seed_from("bootstrap", *question_ids)).integers(0, n, (n_resamples, n))
    places = drawn * n_resamples + np.arange(n_resamples)[:, None]
    counts = np.bincount(places.ravel(), minlength=n * n_resamples).reshape(n, n_resamples)
    # Pairs of questions are counted; beyond 2^24 a 32-bit number skips some.
    return counts.astype(np.float32) if n**2 < 2**24 else counts.astype(np.float64)


def _bounds(differences: Numbers, drawn: Counts, confidence: float) -> tuple[float, float]:
    """Percentile bounds, without the Walsh averages of any resample.

    The median of a resample is at most t if half of its Walsh averages are. How many are follows from how often each
    question was drawn, and every bound is a Walsh average of the sample, so a few steps of bisection find it. Where a
    resample has two medians the lower one counts below and the upper one above.
    """
    order = np.argsort(differences, kind="stable")
    ascending, counts = differences[order], drawn[order]
    averages = np.unique(_walsh_averages(ascending))
    n_averages = len(differences) * (len(differences) + 1) // 2
    tail = (1 - confidence) / 2
    up_to = np.concatenate([np.zeros((1, counts.shape[1]), counts.dtype), np.cumsum(counts, axis=0)])
    low = _quantile(tail, (n_averages + 1) // 2, ascending, counts, up_to, averages)
    high = _quantile(1 - tail, n_averages // 2 + 1, ascending, counts, up_to, averages)
    return low, high


def _quantile(share: float, rank: int, ascending: Numbers, counts: Counts, up_to: Counts, averages: Numbers) -> float:
    """The smallest average t such that in this share of resamples the Walsh average of this rank is at most t."""
    needed = share * counts.shape[1] - DUST
    first, last = 0, len(averages) - 1
    while first < last:
        middle = (first + last) // 2
        t = averages[middle]
        reach = np.searchsorted(ascending, 2 * t - ascending + DUST, side="right")
        # Ordered pairs count every pair twice, save that of a draw with itself.
        pairs = np.einsum("ib,ib->b", counts, up_to[reach])
        pairs += up_to[np.searchsorted(ascending, t + DUST, side="right")]
        at_most = pairs / 2 >= rank
        n_at_most = int(at_most.sum())
        # Resamples whose side is settled need no second look.
        if n_at_most >= needed:
            last, undecided = middle, at_most
        else:
            first, undecided, needed = middle + 1, ~at_most, needed - n_at_most
        counts, up_to = counts[:, undecided], up_to[:, undecided]
    return float(averages[first])
