"""Spearman's rank correlation of points that belong to questions, several of one question or one of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shaketable.identity import seed_from
from shaketable.statistics.intervals import Numbers, Statistic

N_SHUFFLES = 9_999


def spearman_of(x: Numbers, y: Numbers, question: Sequence[int]) -> Statistic:
    """Spearman's rho of pairs that belong to questions, for resampled questions; ties have average ranks.

    Undefined (NaN) where one side does not vary.
    """
    owner = np.asarray(question)

    def statistic(drawn: Numbers) -> Numbers:
        weights = drawn[:, owner]
        middle = weights.sum(axis=1, keepdims=True) / 2  # the mean of all ranks
        a, b = (_ranks(side, weights) - middle for side in (x, y))
        both, first, second = (np.einsum("ij,ij,ij->i", weights, c, d) for c, d in ((a, b), (a, a), (b, b)))
        with np.errstate(invalid="ignore", divide="ignore"):
            rho = both / np.sqrt(first * second)
        return np.where(np.minimum(first, second) > 1e-9, rho, np.nan)[None, :]

    return statistic


def spearman_test(x: Numbers, y: Numbers, question: Sequence[int], question_ids: Sequence[str]) -> float | None:
    """Two-sided p that rho is not 0; None where it cannot be told.

    Of one point of each question the points are shuffled. Several of a question hang together: there Fisher's z is
    compared with its error by leaving out one question after the other.
    """
    if len(question) == len(question_ids):
        return _shuffled_p(x, y, question_ids)
    from scipy import stats

    n = len(question_ids)
    drawn = np.concatenate([np.ones((1, n)), 1 - np.eye(n)])
    z = np.arctanh(np.clip(spearman_of(x, y, question)(drawn)[0], -0.999, 0.999))
    error = np.sqrt((n - 1) / n * ((z[1:] - z[1:].mean()) ** 2).sum())
    return float(2 * stats.t.sf(abs(z[0]) / error, n - 1)) if error > 1e-9 else None


def _shuffled_p(x: Numbers, y: Numbers, question_ids: Sequence[str]) -> float:
    from scipy import stats

    first, second = (side - side.mean() for side in (stats.rankdata(x), stats.rankdata(y)))
    rng = np.random.default_rng(seed_from("spearman", *question_ids))
    shuffled = rng.permuted(np.broadcast_to(second, (N_SHUFFLES, len(second))), axis=1) @ first
    return float(((np.abs(shuffled) >= abs(second @ first) - 1e-9).sum() + 1) / (N_SHUFFLES + 1))


def _ranks(values: Numbers, weights: Numbers) -> Numbers:
    """Average ranks, less one half, of values that occur as often as their weights say, one line for each draw."""
    order = np.argsort(values, kind="stable")
    is_new = np.diff(values[order], prepend=np.nan) != 0
    counts = np.add.reduceat(weights[:, order], np.flatnonzero(is_new), axis=1)
    order_of = np.empty(len(values), dtype=np.int64)
    order_of[order] = np.cumsum(is_new) - 1
    ranks: Numbers = (np.cumsum(counts, axis=1) - counts / 2)[:, order_of]
    return ranks
