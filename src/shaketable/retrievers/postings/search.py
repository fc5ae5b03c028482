"""The best passages of a query, from lists of postings: compiled, and without Python's lock, so that threads run."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

N_LOOKED_AT = 65_536
"""A list up to this length is looked through for a first floor; a longer one costs more than its floor saves."""
WORTH_A_SEARCH = 32
"""Postings that are read in the time in which one is looked up."""
DUST = 1e-9
"""What sums in another order may differ by, and more."""
Rows = NDArray[np.int32]
Numbers = NDArray[np.float64]


@numba.njit(nogil=True, cache=True)
def _score(title: float, text: float, tie_breaker: float) -> float:
    """The better field and a share of the other."""
    return title + tie_breaker * text if title > text else text + tie_breaker * title


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
    n_passages: int,
    window: int,
) -> tuple[Rows, Numbers]:
    """Passages among which are the k best, with what each has in both fields (passages × fields), exactly.

    Lists are those of the query's terms in the fields 0 and 1: `rows[field][begin:end]`. `left` is what they and all
    after them can add to each field at most. Where that is less than what k passages have, a passage needs one of the
    lists before to be among the best (MaxScore: Turtle and Flood, 1995): the others, of common terms, only serve the
    passages that may still come in. Passages are gone through window by window, so that sums stay near the processor.
    """
    n_lists, n = len(begins), 0
    places = begins.copy()
    best = np.full(k, _first_floor(scores, begins, ends, fields, weights, k))  # ascending
    sums = np.zeros((window, 2))
    touched = np.empty(window, np.int32)
    near, values = np.empty(k, np.int32), np.empty((k, 2))
    for start in range(0, n_passages, window):
        floor = best[0] - DUST
        one = n_here = 0
        while one < n_lists and _score(left[one, 0], left[one, 1], tie_breaker) >= floor:
            own = 0 if fields[one] == 0 else 1
            places[one], n_here = _read(
                rows[own], scores[own], places[one], ends[one], weights[one], start, own, sums, touched, n_here
            )
            one += 1
        n_here = _keep(touched, n_here, sums, left[one, 0], left[one, 1], tie_breaker, floor)
        while one < n_lists and n_here:
            own = 0 if fields[one] == 0 else 1
            place = _seek(rows[own], places[one], ends[one], start)
            if (ends[one] - begins[one]) * window < WORTH_A_SEARCH * n_here * n_passages:
                place = _read_on(rows[own], scores[own], place, ends[one], weights[one], start, window, own, sums)
            else:
                _look_up(rows[own], scores[own], place, ends[one], weights[one], start, own, sums, touched[:n_here])
            places[one] = place
            one += 1
            n_here = _keep(touched, n_here, sums, left[one, 0], left[one, 1], tie_breaker, floor)
        while n + n_here > len(near):
            near, values = np.append(near, near), np.append(values, values, 0)
        for spot in touched[:n_here]:
            near[n], values[n] = start + spot, sums[spot]
            n += 1
            _insert(best, _score(sums[spot, 0], sums[spot, 1], tie_breaker))
            sums[spot] = 0.0
    return near[:n], values[:n]


@numba.njit(nogil=True, cache=True)
def _read(
    rows: Rows,
    scores: Numbers,
    place: int,
    end: int,
    weight: float,
    start: int,
    field: int,
    sums: Numbers,
    touched: Rows,
    n_touched: int,
) -> tuple[int, int]:
    """Add what a list has for the passages of a window, and note those that had nothing; where the list goes on."""
    while place < end:
        spot = rows[place] - start
        if spot >= len(touched):
            break
        if sums[spot, 0] == 0.0 and sums[spot, 1] == 0.0:
            touched[n_touched] = spot
            n_touched += 1
        sums[spot, field] += weight * scores[place]
        place += 1
    return place, n_touched


@numba.njit(nogil=True, cache=True)
def _keep(
    spots: Rows, n: int, sums: Numbers, title_left: float, text_left: float, tie_breaker: float, floor: float
) -> int:
    """Of n passages, those that can reach the floor come first; how many they are. The others' sums are cleared."""
    kept = 0
    for spot in spots[:n]:
        if _score(sums[spot, 0] + title_left, sums[spot, 1] + text_left, tie_breaker) >= floor:
            spots[kept] = spot
            kept += 1
        else:
            sums[spot, 0] = sums[spot, 1] = 0.0
    return kept


@numba.njit(nogil=True, cache=True)
def _read_on(
    rows: Rows, scores: Numbers, place: int, end: int, weight: float, start: int, window: int, field: int, sums: Numbers
) -> int:
    """Add what a list has for the passages of a window that have something; where the list goes on."""
    while place < end:
        spot = rows[place] - start
        if spot >= window:
            break
        if sums[spot, 0] != 0.0 or sums[spot, 1] != 0.0:
            sums[spot, field] += weight * scores[place]
        place += 1
    return place


@numba.njit(nogil=True, cache=True)
def _look_up(
    rows: Rows, scores: Numbers, first: int, end: int, weight: float, start: int, field: int, sums: Numbers, spots: Rows
) -> None:
    """Add what a list has for some passages of a window, which begins at its place `first`."""
    where, last = first, 0
    for spot in spots:
        if spot < last:  # Runs ascend, one for each list that was read.
            where = first
        last = spot
        where = _seek(rows, where, end, start + spot)
        if where < end and rows[where] == start + spot:
            sums[spot, field] += weight * scores[where]


@numba.njit(nogil=True, cache=True)
def _seek(rows: Rows, begin: int, end: int, row: int) -> int:
    """The first place from `begin` on whose row is not smaller: in growing steps, then by halves."""
    step, low = 1, begin
    while low + step < end and rows[low + step] < row:
        low += step
        step *= 2
    high = min(low + step, end)
    while low < high:
        middle = (low + high) >> 1
        if rows[middle] < row:
            low = middle + 1
        else:
            high = middle
    return low


@numba.njit(nogil=True, cache=True)
def _first_floor(
    scores: tuple[Numbers, Numbers],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    fields: NDArray[np.int64],
    weights: Numbers,
    k: int,
) -> float:
    """A score that k passages reach by one term alone; 0 where no list of moderate length has so many."""
    floor = 0.0
    for one in range(len(begins)):
        if k <= ends[one] - begins[one] <= N_LOOKED_AT:
            best = np.zeros(k)
            for score in scores[0 if fields[one] == 0 else 1][begins[one] : ends[one]]:
                _insert(best, score)
            floor = max(floor, weights[one] * best[0])
    return floor


@numba.njit(nogil=True, cache=True)
def _insert(best: Numbers, score: float) -> None:
    """A score takes its place among the best, which ascend; the least of them goes."""
    if score > best[0]:
        spot = 0
        while spot + 1 < len(best) and best[spot + 1] < score:
            best[spot] = best[spot + 1]
            spot += 1
        best[spot] = score
