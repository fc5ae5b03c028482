"""The best passages of a query, from lists of postings: compiled, and without Python's lock, so that threads run."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

N_LOOKED_AT = 16_384
"""Passages that a bound is taken from; all others would cost more time than a better bound saves."""
DUST = 1e-9
"""What sums in another order may differ by, and more."""
Rows = NDArray[np.int32]
Numbers = NDArray[np.float64]


@numba.njit(nogil=True, cache=True)
def _score(title: float, text: float, tie_breaker: float) -> float:
    """The better field and a share of the other."""
    return max(title, text) + tie_breaker * min(title, text)


@numba.njit(nogil=True, cache=True)
def candidates(
    rows: tuple[Rows, Rows],
    scores: tuple[Numbers, Numbers],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    fields: NDArray[np.int64],
    weights: Numbers,
    left: Numbers,
    tie_breaker: float,
    k: int,
    n_long: int,
    sums: Numbers,
    touched: Rows,
) -> tuple[Rows, Numbers]:
    """Passages among which are the k best, with what each has in both fields (passages × fields), exactly.

    Lists are those of the query's terms in the fields 0 and 1, the shortest first: `rows[field][begin:end]`. `left` is
    what they and all after them can add to each field at most. Once the k-th best passage has more, no new passage can
    come in: the longest lists, of common terms, are not read, but looked up for passages that may still be among the
    best (MaxScore: Turtle and Flood, 1995). `sums` is zero before and after; `touched` is room to work in.
    """
    n_lists, n_touched, n_read, floor = len(begins), 0, 0, 0.0
    while n_read < n_lists and _score(left[n_read, 0], left[n_read, 1], tie_breaker) >= floor:
        field, weight = fields[n_read], weights[n_read]
        for place in range(begins[n_read], ends[n_read]):
            row = rows[field][place]
            if sums[row, 0] == 0.0 and sums[row, 1] == 0.0:
                touched[n_touched] = row
                n_touched += 1
            sums[row, field] += weight * scores[field][place]
        n_read += 1
        if n_read == n_lists or ends[n_read] - begins[n_read] > n_long:
            floor = _floor(sums, touched, n_touched, k, tie_breaker)
    values = np.empty((n_touched, 2))
    near = np.empty(n_touched, np.int32)
    n = 0
    for place in range(n_touched):
        row = touched[place]
        title, text = sums[row, 0], sums[row, 1]
        sums[row, 0] = sums[row, 1] = 0.0
        if _score(title + left[n_read, 0], text + left[n_read, 1], tie_breaker) >= floor:
            near[n], values[n, 0], values[n, 1] = row, title, text
            n += 1
    every = np.arange(n).astype(np.int32)
    for one in range(n_read, n_lists):
        field, weight = fields[one], weights[one]
        where = begins[one]
        for place in range(n):
            if place and near[place] < near[place - 1]:  # Runs ascend, one for each list that was read.
                where = begins[one]
            where = _seek(rows[field], where, ends[one], near[place])
            if where < ends[one] and rows[field][where] == near[place]:
                values[place, field] += weight * scores[field][where]
        floor = _floor(values, every, n, k, tie_breaker)
        kept = 0
        for place in range(n):
            title, text = values[place, 0], values[place, 1]
            if _score(title + left[one + 1, 0], text + left[one + 1, 1], tie_breaker) >= floor:
                near[kept], values[kept, 0], values[kept, 1] = near[place], title, text
                kept += 1
        n = kept
    return near[:n].copy(), values[:n].copy()


@numba.njit(nogil=True, cache=True)
def _floor(sums: Numbers, rows: Rows, n_rows: int, k: int, tie_breaker: float) -> float:
    """A score that k passages reach, less the dust: the k-th best of the first of them, which have the rarest terms;
    0 if they are fewer than k."""
    best = np.zeros(k)  # ascending
    for place in range(min(n_rows, max(N_LOOKED_AT, k))):
        title, text = sums[rows[place], 0], sums[rows[place], 1]
        score = _score(title, text, tie_breaker)
        if score > best[0]:
            spot = 0
            while spot + 1 < k and best[spot + 1] < score:
                best[spot] = best[spot + 1]
                spot += 1
            best[spot] = score
    return float(best[0]) - DUST


@numba.njit(nogil=True, cache=True)
def _seek(rows: Rows, begin: int, end: int, row: int) -> int:
    """The first place from `begin` on whose row is not smaller: in growing steps, then by halves."""
    step, low = 1, begin
    while low + step < end and rows[low + step] < row:
        low += step
        step *= 2
    high = min(low + step, end)
    while low < high:
        middle = (low + high) // 2
        if rows[middle] < row:
            low = middle + 1
        else:
            high = middle
    return low
