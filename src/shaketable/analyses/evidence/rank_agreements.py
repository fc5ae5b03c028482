"""How far the rankings of disturbances at two temperatures agree, of questions that have a score in every cell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from shaketable.analyses.grids import Grid
from shaketable.analyses.rows import Scored
from shaketable.statistics.intervals import NO_SCORES, ROUNDING, Bootstrap, Numbers, complete
from shaketable.statistics.ranks import rank_agreement
from shaketable.types import Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreement(Scored):
    """Kendall's tau of the ranking of disturbances at two temperatures."""

    other_temperature: float
    tau: Estimate
    n_left_out: int


class Whole:
    """The drops of the questions that have a score in every cell."""

    def __init__(self, grid: Grid) -> None:
        drops = grid.drops()
        whole = complete(drops)
        self.grid = grid
        self.drops = drops[..., whole]
        self.whole = whole
        self.ids = [grid.question_ids[i] for i in whole]
        self.n_missing = int(grid.n_missing.sum())
        self.n_left_out = len(grid.question_ids) - len(self.ids)
        self.pairs = list(combinations(range(len(grid.perturbations)), 2))

    def contrasts(self) -> Numbers:
        """The drop of the first minus that of the second, pairs × temperatures × questions."""
        first, second = np.array(self.pairs).T
        contrasts: Numbers = np.round(self.drops[first] - self.drops[second], ROUNDING)
        return contrasts

    def contrasts_of_all(self) -> Numbers:
        """The same as rows, NaN for questions that lack a score in some cell."""
        contrasts = self.contrasts()
        rows = np.full((contrasts.shape[0] * contrasts.shape[1], len(self.grid.question_ids)), np.nan)
        rows[:, self.whole] = contrasts.reshape(len(rows), -1)
        return rows

    def contrasts_at_ends(self) -> tuple[Numbers, Numbers]:
        """The least and the greatest they could be, had the runs that failed scored as badly or as well as can be."""
        first, second = np.array(self.pairs).T + 1  # The original is in both drops.
        shape, grid = (-1, len(self.grid.question_ids)), self.grid
        known = ~np.isnan(grid.least).any(axis=(0, 1))
        least: Numbers = np.where(known, grid.least[second] - grid.greatest[first], np.nan).reshape(shape)
        greatest: Numbers = np.where(known, grid.greatest[second] - grid.least[first], np.nan).reshape(shape)
        return least.round(ROUNDING), greatest.round(ROUNDING)

    def effects(self) -> Numbers:
        """What each temperature does to the contrasts."""
        contrasts = self.contrasts()
        effects: Numbers = contrasts - contrasts.mean(axis=1, keepdims=True)
        return effects


def agreements_of(whole: Whole, bootstrap: Bootstrap) -> list[Agreement]:
    grid = whole.grid
    pairs = list(combinations(range(len(grid.temperatures)), 2))
    first, second = np.array(pairs).T
    taus = bootstrap.statistics(
        rank_agreement(whole.drops, first, second), whole.ids, len(pairs), unit="ratio", method="percentile"
    )
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
