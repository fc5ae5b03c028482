"""How hot a system may run: the ceiling below which it loses little, and the onset of its decline."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shaketable.statistics.intervals import Numbers, Statistic, mean_of

DUST = 1e-9
"""A loss of delta is still within delta, whatever its last bits."""


def ceiling_index(losses: Numbers, delta: float) -> NDArray[np.int64]:
    """The last temperature (first axis) up to which every loss is at most delta; −1 where not even the first is.

    A loss that is not known (NaN) is not at most delta. Of p values and alpha it is a bound: every temperature up to it
    is tested at full alpha, since the first that is not shown ends the steps from cool to hot.
    """
    within = np.logical_and.accumulate(losses <= delta + DUST, axis=0)
    last: NDArray[np.int64] = within.sum(axis=0) - 1
    return last


def n_that_lose_nothing(margin: float, alpha: float) -> int:
    """Return the fewest questions, none of which loses anything, that bound the mean loss of a share below the margin.

    (1 − margin)ⁿ ≤ alpha, Clopper and Pearson's bound where no loss was seen: 59 for a margin of 5 points at 0.05.
    """
    return math.ceil(math.log(alpha) / math.log(1 - margin))


def onto_grid(low: float, high: float, temperatures: Sequence[float]) -> tuple[float, float]:
    """Bounds moved outward to temperatures that were tried."""
    below = [temperature for temperature in temperatures if temperature <= low + DUST]
    above = [temperature for temperature in temperatures if temperature >= high - DUST]
    return below[-1] if below else temperatures[0], above[0] if above else temperatures[-1]


def hinge(temperatures: Sequence[float], curves: Numbers) -> tuple[Numbers, Numbers]:
    """Onset T0 and slope b of the best least-squares fit y = a + b max(0, T − T0) to each column of curves.

    T0 is one of the inner temperatures, the coolest of equally good ones.
    """
    grid = np.array(temperatures)
    onsets = grid[1:-1]
    errors, slopes = [], []
    for onset in onsets:
        design = np.stack([np.ones_like(grid), np.maximum(0, grid - onset)], axis=1)
        fitted = np.linalg.lstsq(design, curves, rcond=None)[0]
        errors.append(np.round(((curves - design @ fitted) ** 2).sum(axis=0), 15))
        slopes.append(fitted[1])
    best = np.argmin(errors, axis=0)
    return onsets[best], np.take_along_axis(np.stack(slopes), best[None], axis=0)[0]


def resampled_hinge(means: Numbers, temperatures: Sequence[float]) -> Statistic:
    """Onset and slope of the mean curve, temperatures × questions."""
    return lambda drawn: np.stack(hinge(temperatures, mean_of(means)(drawn)))
