"""The best passages of a query, from lists of postings: compiled, and without Python's lock, so that threads run."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

WORTH_A_SEARCH = 32
"""Postings that are read in the time in which one is looked up."""
DUST = 1e-9
"""What sums in another order may differ by, and more."""
Rows = NDArray[np.int32]
Codes = NDArray[np.uint16] | NDArray[np.uint32]
Numbers = NDArray[np.float64]
Postings = tuple[Rows, Codes, Numbers]
"""Rows, the codes of what each adds, and what each code stands for."""


@numba.njit(nogil=True, cache=True)
def _score(title: float, text: float, tie_breaker: float) -> float:
    """The better field and a share of the other."""
    return title + tie_breaker * text if title > text else text + tie_breaker * title


@numba.njit(nogil=True, cache=True)
def candidates(
    postings: tuple[Postings, Postings],
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    fields: NDArray[np.int64],
    weights: Numbers,
    left: Numbers,
    tie_breaker: float,
    floor: float,
    k: int,
    n_passages: int,
    window: int,
) -> tuple[Rows, Numbers]:
    """Passages among which are the k best, with what each has in both fields (passages × fields), exactly.

    Lists are those of the query's terms in the fields 0 and 1, each from `begin` to before `end` in its field's
    postings, which add `weight * share`. `left` is what a list and all after it can add to each field at most. Where
    that is less than what k passages have, `floor` or more, a passage needs one of the lists before to be among the
    best (MaxScore: Turtle and Flood, 1995): the others, of common terms, only serve the passages that may still come
    in. Passages are gone through window by window, so that sums stay near the processor.
    """
    n_lists, n = len(begins), 0
    places = begins.copy()
    best = np.full(k, floor)  # a heap, the least first
    sums = np.zeros((window, 2))
    touched = np.empty(window, np.int32)
    near, values = np.empty(k, np.int32), np.empty((k, 2))
    for start in range(0, n_passages, window):
        floor = best[0] - DUST
        one = n_here = 0
        while one < n_lists and _score(left[one, 0], left[one, 1], tie_breaker) >= floor:
            own = 0 if fields[one] == 0 else 1
            places[one], n_here = _read(
                postings[own], places[one], ends[one], weights[one], start, own, sums, touched, n_here
            )
            one += 1
        n_here = _keep(touched, n_here, sums, left[one, 0], left[one, 1], tie_breaker, floor)
        while one < n_lists and n_here:
            own = 0 if fields[one] == 0 else 1
            place = _seek(postings[own][0], places[one], ends[one], start)
            if (ends[one] - begins[one]) * window < WORTH_A_SEARCH * n_here * n_passages:
                place = _read_on(postings[own], place, ends[one], weights[one], start, window, own, sums)
            else:
                _look_up(postings[own], place, ends[one], weights[one], start, own, sums, touched[:n_here])
            places[one] = place
            one += 1
            n_here = _keep(touched, n_here, sums, left[one, 0], left[one, 1], tie_breaker, floor)
        while n + n_here > len(near):
            near, values = _with_more_room(near, values)
        for spot in touched[:n_here]:
            title, text = sums[spot, 0], sums[spot, 1]
            near[n], values[n, 0], values[n, 1] = start + spot, title, text
            n += 1
            _insert(best, _score(title, text, tie_breaker))
            sums[spot, 0] = sums[spot, 1] = 0.0
    return _reaching(near[:n], values[:n], tie_breaker, best[0] - DUST)


@numba.njit(nogil=True, cache=True)
def _reaching(rows: Rows, values: Numbers, tie_breaker: float, floor: float) -> tuple[Rows, Numbers]:
    """The passages that reach a floor."""
    kept = np.array([_score(title, text, tie_breaker) >= floor for title, text in values])
    return rows[kept], values[kept]


@numba.njit(nogil=True, cache=True)
def _with_more_room(rows: Rows, values: Numbers) -> tuple[Rows, Numbers]:
    """Twice as long. By hand: numpy's own takes three seconds to compile, before the first search on a machine."""
    more_rows, more_values = np.empty(2 * len(rows), np.int32), np.empty((2 * len(rows), 2))
    for i in range(len(rows)):
        more_rows[i], more_values[i, 0], more_values[i, 1] = rows[i], values[i, 0], values[i, 1]
    return more_rows, more_values


@numba.njit(nogil=True, cache=True)
def _read(
    postings: Postings,
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
    rows, codes, shares = postings
    while place < end:
        spot = rows[place] - start
        if spot >= len(touched):
            break
        if sums[spot, 0] == 0.0 and sums[spot, 1] == 0.0:
            touched[n_touched] = spot
            n_touched += 1
        sums[spot, field] += weight * shares[codes[place]]
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
    postings: Postings, place: int, end: int, weight: float, start: int, window: int, field: int, sums: Numbers
) -> int:
    """Add what a list has for the passages of a window that have something; where the list goes on."""
    rows, codes, shares = postings
    while place < end:
        spot = rows[place] - start
        if spot >= window:
            break
        if sums[spot, 0] != 0.0 or sums[spot, 1] != 0.0:
            sums[spot, field] += weight * shares[codes[place]]
        place += 1
    return place


@numba.njit(nogil=True, cache=True)
def _look_up(
    postings: Postings, first: int, end: int, weight: float, start: int, field: int, sums: Numbers, spots: Rows
) -> None:
    """Add what a list has for some passages of a window, which begins at its place `first`."""
    rows, codes, shares = postings
    where, last = first, 0
    for spot in spots:
        if spot < last:  # Runs ascend, one for each list that was read.
            where = first
        last = spot
        where = _seek(rows, where, end, start + spot)
        if where < end and rows[where] == start + spot:
            sums[spot, field] += weight * shares[codes[where]]


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
def nth_best(shares: Numbers, codes: Codes, starts: NDArray[np.int64], n: int) -> Numbers:
    """What the n-th best posting of each list has; 0 where a list has fewer."""
    found = np.zeros(len(starts) - 1)
    for one in range(len(found)):
        if starts[one + 1] - starts[one] >= n:
            best = np.zeros(n)
            for code in codes[starts[one] : starts[one + 1]]:
                _insert(best, shares[code])
            found[one] = best[0]
    return found


@numba.njit(nogil=True, cache=True)
def _insert(best: Numbers, score: float) -> None:
    """A score takes the place of the least of the best, which are a heap."""
    if score > best[0]:
        spot, below = 0, 1
        while below < len(best):
            if below + 1 < len(best) and best[below + 1] < best[below]:
                below += 1
            if best[below] >= score:
                break
            best[spot] = best[below]
            spot, below = below, 2 * below + 1
        best[spot] = score
