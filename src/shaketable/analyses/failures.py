"""Tests of differences that must stand whatever the answers that failed would have scored."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from shaketable.analyses.grids import Grid
from shaketable.statistics.intervals import Numbers
from shaketable.statistics.worst_case import Test, WorstCase, worst_cases


def worst_drops(grid: Grid, test: Test, *, keeps_sign: bool = True) -> list[WorstCase]:
    """Of original minus disturbed, for perturbations × temperatures as one list."""
    uncertain = grid.is_uncertain()
    is_uncertain = (uncertain[:1] | uncertain[1:]).ravel()
    signs = np.full(grid.means.shape[:2], -1.0)
    signs[0] = 1.0
    return worst_of(grid, signs, lambda own: _flat(own.drops()), is_uncertain, test, keeps_sign=keeps_sign)


def worst_heat_drops(grid: Grid, test: Test, *, keeps_sign: bool = True) -> list[WorstCase]:
    """Of the coolest minus each temperature, for evidence × temperatures as one list."""
    uncertain = grid.is_uncertain()
    is_uncertain = (uncertain[:, :1] | uncertain).ravel()
    return worst_of(
        grid, heat_signs(grid), lambda own: _flat(own.heat_drops()), is_uncertain, test, keeps_sign=keeps_sign
    )


def worst_of(
    grid: Grid,
    signs: Numbers,
    differences: Callable[[Grid], Numbers],
    is_uncertain: NDArray[np.bool_],
    test: Test,
    *,
    keeps_sign: bool = True,
) -> list[WorstCase]:
    """Of any differences that a grid gives, rows × its questions, NaN for a question without one.

    `signs`: with which each cell (evidence × temperatures) counts in them.
    """
    least, greatest = (differences(own) for own in grid.at_ends(signs))
    return worst_cases(differences(grid), (least, greatest), is_uncertain, test, keeps_sign=keeps_sign)


def heat_signs(grid: Grid) -> Numbers:
    """The coolest temperature is what the others are taken from."""
    signs = np.full(grid.means.shape[:2], -1.0)
    signs[:, 0] = 1.0
    return signs


def _flat(drops: Numbers) -> Numbers:
    return drops.reshape(-1, drops.shape[-1])
