"""Does temperature change which disturbance hurts most?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import ClassVar, Literal

import numpy as np

from shaketable.analyses.grids import Grid, grids
from shaketable.analyses.rows import Scored
from shaketable.analyses.tables import Tables
from shaketable.statistics.intervals import NO_SCORES, ROUNDING, Bootstrap, complete
from shaketable.statistics.ranks import interaction_test, rank_agreement, ranks_of
from shaketable.statistics.significance import holm
from shaketable.types import Estimate

Change = Literal["reversal", "change", "not shown"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Drop(Scored):
    """What a disturbance costs at a temperature, and its rank there."""

    drop: Estimate
    """Original minus disturbed, paired by question."""
    rank: int | None
    """1: the largest drop; None: there is none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Contrast(Scored):
    """The drop of one disturbance minus that of another at a temperature."""

    other: str
    """The other disturbance."""
    difference: Estimate
    p: float | None
    """That the contrast changes with temperature, by sign flips of what questions have beyond their own mean; of
    the pair, whatever the temperature."""
    p_adjusted: float | None
    """By Holm, over the pairs."""
    change: Change | None
    """Of the pair: `reversal` where intervals exclude 0 on both sides, `change` where the test alone shows one. None:
    there was nothing to test."""
    n_left_out: int
    """Questions without a score in some cell."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreement(Scored):
    """Kendall's tau of the ranking of disturbances at two temperatures."""

    other_temperature: float
    tau: Estimate
    n_left_out: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranking:
    """Does temperature change which disturbance of the evidence hurts most?"""

    drops: tuple[Drop, ...]
    contrasts: tuple[Contrast, ...]
    """Pair by pair, from cool to hot."""
    agreements: tuple[Agreement, ...]
    alpha: float

    tells_of_evidence: ClassVar[bool] = True


def ranking(tables: Tables, *, metric: str | None = None, alpha: float = 0.05) -> Ranking:
    """Drops with their ranks, contrasts of disturbances with a test of their change, and the agreement of rankings.

    Contrasts and agreements need two disturbances and two temperatures.
    """
    disturbed = [grid for grid in grids(tables.scores, metric or tables.metric()) if grid.perturbations]
    compared = [_Whole(grid) for grid in disturbed if min(len(grid.perturbations), len(grid.temperatures)) > 1]
    return Ranking(
        drops=tuple(drop for grid in disturbed for drop in _drops(grid, tables.bootstrap)),
        contrasts=tuple(contrast for whole in compared for contrast in _contrasts(whole, alpha, tables.bootstrap)),
        agreements=tuple(agreement for whole in compared for agreement in _agreements(whole, tables.bootstrap)),
        alpha=alpha,
    )


def _drops(grid: Grid, bootstrap: Bootstrap) -> list[Drop]:
    drops, n_missing = grid.drops(), grid.n_missing_pairs()
    flat = bootstrap.means(drops.reshape(-1, drops.shape[2]), grid.question_ids, unit=grid.unit, is_difference=True)
    values = np.array([np.nan if estimate.value is None else estimate.value for estimate in flat])
    ranks = ranks_of(values.reshape(drops.shape[:2]))
    return [
        Drop(
            cell=grid.cell(perturbation=perturbation, temperature=temperature),
            metric=grid.metric,
            drop=flat[i * len(grid.temperatures) + j],
            rank=ranks[i][j],
            n_missing=int(n_missing[i, j]),
        )
        for i, perturbation in enumerate(grid.perturbations)
        for j, temperature in enumerate(grid.temperatures)
    ]


class _Whole:
    """The drops of the questions that have a score in every cell."""

    def __init__(self, grid: Grid) -> None:
        drops = grid.drops()
        whole = complete(drops)
        self.grid = grid
        self.drops = drops[..., whole]
        self.ids = [grid.question_ids[i] for i in whole]
        self.n_missing = int(grid.n_missing.sum())
        self.n_left_out = len(grid.question_ids) - len(self.ids)


def _contrasts(whole: _Whole, alpha: float, bootstrap: Bootstrap) -> list[Contrast]:
    grid = whole.grid
    pairs = list(combinations(range(len(grid.perturbations)), 2))
    contrasts = np.round(np.stack([whole.drops[a] - whole.drops[b] for a, b in pairs]), ROUNDING)
    p_values: Sequence[float | None] = interaction_test(contrasts, whole.ids) if whole.ids else [None] * len(pairs)
    made = []
    for (a, b), contrast, p, p_adjusted in zip(pairs, contrasts, p_values, holm(p_values), strict=True):
        differences = bootstrap.means(contrast, whole.ids, unit=grid.unit, is_difference=True)
        change = None if p_adjusted is None else _change(differences, p_adjusted < alpha)
        made += [
            Contrast(
                cell=grid.cell(perturbation=grid.perturbations[a], temperature=temperature),
                other=grid.perturbations[b],
                metric=grid.metric,
                difference=difference,
                p=p,
                p_adjusted=p_adjusted,
                change=change,
                n_missing=whole.n_missing,
                n_left_out=whole.n_left_out,
            )
            for temperature, difference in zip(grid.temperatures, differences, strict=True)
        ]
    return made


def _change(differences: Sequence[Estimate], is_shown: bool) -> Change:
    is_above = any(difference.low is not None and difference.low > 0 for difference in differences)
    is_below = any(difference.high is not None and difference.high < 0 for difference in differences)
    if is_above and is_below:
        return "reversal"
    return "change" if is_shown else "not shown"


def _agreements(whole: _Whole, bootstrap: Bootstrap) -> list[Agreement]:
    grid = whole.grid
    pairs = list(combinations(range(len(grid.temperatures)), 2))
    first, second = np.array(pairs).T
    taus = bootstrap.statistics(rank_agreement(whole.drops, first, second), whole.ids, len(pairs), unit="ratio")
    equal = "all drops are equal at one of the temperatures" if whole.ids else NO_SCORES
    return [
        Agreement(
            cell=grid.cell(temperature=grid.temperatures[a]),
            other_temperature=grid.temperatures[b],
            metric=grid.metric,
            tau=replace(tau, reason=equal if tau.value is None else None),
            n_missing=whole.n_missing,
            n_left_out=whole.n_left_out,
        )
        for (a, b), tau in zip(pairs, taus, strict=True)
    ]
