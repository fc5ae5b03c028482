"""Tests that the mean of paired differences is 0: without an effect each might as well have the other sign.

Flips leave the sum of squares as it is, so the mean and the studentized mean order them alike: one test serves shares
and scores. The flips of a question come from its id alone, so neither order nor company of conditions changes a p.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from shaketable.identity import seed_from
from shaketable.statistics.intervals import ROUNDING, Numbers
from shaketable.statistics.resampling import MOST_AT_ONCE

N_FLIPS = 10_000
MOST_ENUMERATED = 15
"""With so many differences that are not 0, or fewer, all flips are tried."""
MOST_STEPS = 60
"""Means of up to 6 runs, also where some are missing, are multiples of a sixtieth."""
MOST_SIZES = 12
"""Of more sizes than that an exact p takes longer than a drawn one."""
DUST = 1e-9


def sign_flip(values: Numbers, question_ids: Sequence[str]) -> list[float]:
    """Two-sided p for each row of differences (conditions × questions) that its mean is not 0.

    NaN stands for a question without a difference; a row without any has no p (NaN). Differences of one size, as of one
    run that is right or wrong, are tested as McNemar's exact test does.
    """
    differences = np.nan_to_num(np.round(values, ROUNDING))  # Dust such as 1e-17 is no difference.
    ps = np.where(np.isnan(values).all(axis=1), np.nan, 1.0)
    drawn = []
    for i in np.flatnonzero((differences != 0).any(axis=1)):
        nonzero = differences[i][differences[i] != 0]
        steps = _steps(nonzero)
        if steps is not None:
            ps[i] = _p_of_steps(steps)
        elif len(nonzero) <= MOST_ENUMERATED:
            ps[i] = _enumerated(nonzero[None])
        else:
            drawn.append(i)
    if drawn:
        ps[drawn] = _drawn(differences[drawn, None], question_ids)
    for i in drawn:
        if ps[i] < 2 / N_FLIPS:  # No flip reached the mean: how far beyond it lies is computed.
            ps[i] = min(ps[i], _tail(differences[i]))
    return [float(p) for p in ps]


def sign_flip_vectors(effects: Numbers, question_ids: Sequence[str]) -> float:
    """p that the mean vector of effects (levels × questions) is not 0; all effects of a question are flipped together.

    The statistic is the sum over levels of the squared sum of effects over their sum of squares, so that levels may
    differ in noise. NaN stands for an effect that is not known.
    """
    return sign_flip_series(effects[None], question_ids)[0]


def sign_flip_series(effects: Numbers, question_ids: Sequence[str]) -> list[float]:
    """The same for several series of vectors (series × levels × questions)."""
    known = np.nan_to_num(np.round(effects, ROUNDING))
    ps = np.where(np.isnan(effects).all(axis=(1, 2)), np.nan, 1.0)
    acts = (known != 0).any(axis=1)
    is_small = acts.sum(axis=1) <= MOST_ENUMERATED
    for i in np.flatnonzero(is_small):
        ps[i] = _enumerated(known[i][:, acts[i]]) if acts[i].any() else ps[i]
    if not is_small.all():
        ps[~is_small] = _drawn(known[~is_small], question_ids)
    return [float(p) for p in ps]


def _steps(nonzero: Numbers) -> NDArray[np.int64] | None:
    """Differences as whole multiples of one step, the fewest; None where they have none in common."""
    sizes = np.unique(np.round(np.abs(nonzero), 12))
    if len(sizes) > MOST_SIZES:
        return None
    of_largest = np.arange(1, MOST_STEPS + 1)
    multiples = np.outer(of_largest, sizes / sizes[-1])
    fits = np.flatnonzero((np.abs(multiples - np.round(multiples)) < DUST * MOST_STEPS).all(axis=1))
    return np.round(nonzero / sizes[-1] * of_largest[fits[0]]).astype(np.int64) if len(fits) else None


def _p_of_steps(steps: NDArray[np.int64]) -> float:
    """Exact: the sum of those that keep their sign is one of binomial numbers, each times its size."""
    from scipy import stats

    n_of = np.bincount(np.abs(steps))
    total = int(np.abs(steps).sum())
    width = 1 << total.bit_length()
    spectrum = np.ones(width // 2 + 1, dtype=np.complex128)
    for size in np.flatnonzero(n_of):
        chances = np.zeros(width)
        chances[: size * n_of[size] + 1 : size] = stats.binom.pmf(np.arange(n_of[size] + 1), n_of[size], 0.5)
        spectrum *= np.fft.rfft(chances)
    reached = np.fft.irfft(spectrum, width)[(abs(int(steps.sum())) + total) // 2 : total + 1].sum()
    # The least there can be: all differences on one side.
    return min(1.0, max(2 * float(reached), 2.0 ** (1 - len(steps))))


def _enumerated(effects: Numbers) -> float:
    """Of all flips; that of all signs at once changes nothing, so the first question keeps its own."""
    n = effects.shape[1]
    flips = (np.arange(2 ** (n - 1)) >> np.arange(n)[:, None]) & 1
    reached = _statistic(effects[None], flips) >= _threshold(effects[None])
    return float(reached.mean())


def _drawn(effects: Numbers, question_ids: Sequence[str]) -> Numbers:
    """Of drawn flips, for series × levels × questions."""
    packed = np.stack([_flips(id) for id in question_ids])
    threshold = _threshold(effects)
    n_reached = np.zeros(len(effects))
    n_blocks = min(packed.shape[1], max(10, N_FLIPS * len(packed) // MOST_AT_ONCE))
    for block in np.array_split(packed, n_blocks, axis=1):
        n_reached += (_statistic(effects, np.unpackbits(block, axis=1)) >= threshold).sum(axis=1)
    p: Numbers = (n_reached + 1) / (N_FLIPS + 1)
    return p


@lru_cache(maxsize=20_000)
def _flips(question_id: str) -> NDArray[np.uint8]:
    rng = np.random.default_rng(seed_from("sign_flip", question_id))
    return np.frombuffer(rng.bytes(N_FLIPS // 8), dtype=np.uint8)


def _statistic(effects: Numbers, flips: NDArray[np.integer]) -> Numbers:
    """Series × flips, for effects (series × levels × questions) and flips (questions × flips, 1: the other sign)."""
    squares = (effects**2).sum(axis=2, keepdims=True)
    scaled = np.divide(effects, np.sqrt(squares), out=np.zeros_like(effects), where=squares > 0)
    signs = 1 - 2 * flips.astype(np.float64)
    sums = (scaled.reshape(-1, effects.shape[2]) @ signs).reshape(*effects.shape[:2], -1)
    statistic: Numbers = (sums**2).sum(axis=1)
    return statistic


def _threshold(effects: Numbers) -> Numbers:
    """What was observed, less the dust that sums of floats leave."""
    observed: Numbers = _statistic(effects, np.zeros((effects.shape[2], 1), dtype=np.uint8)) * (1 - DUST)
    return observed


def _tail(differences: Numbers) -> float:
    """Two-sided p far out, by the saddlepoint approximation of Lugannani and Rice for a sum of flipped differences."""
    from scipy import stats

    sizes = np.abs(differences[differences != 0])
    scale = np.sqrt((sizes**2).sum())
    sizes, observed = sizes / scale, abs(float(differences.sum())) / scale
    least = 2.0 ** (1 - len(sizes))
    if observed > sizes.sum() * (1 - DUST):
        return least
    point = observed  # The slope of the cumulants is concave: Newton's steps come from below and never overshoot.
    for _ in range(100):
        slopes = np.tanh(point * sizes)
        curvature = float((sizes**2 * (1 - slopes**2)).sum())
        step = (observed - float(sizes @ slopes)) / curvature
        point += step
        if step < DUST * point:
            break
    cumulant = float((np.logaddexp(point * sizes, -point * sizes) - np.log(2)).sum())
    w, u = np.sqrt(2 * (point * observed - cumulant)), point * np.sqrt(curvature)
    tail = stats.norm.sf(w) + stats.norm.pdf(w) * (1 / u - 1 / w)
    return max(2 * float(tail), least)
