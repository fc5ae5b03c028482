"""Does temperature change which disturbance hurts most?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from shaketable.analyses.claims import Claim, Subject
from shaketable.analyses.evidence.rank_agreements import Agreement, Whole, agreements_of
from shaketable.analyses.grids import Grid, grids
from shaketable.analyses.rows import Scored
from shaketable.analyses.tables import Tables
from shaketable.statistics.effect_sizes import p_of_effects, partial_epsilon_squared
from shaketable.statistics.intervals import NO_SCORES, Bootstrap
from shaketable.statistics.ranks import ranks_of
from shaketable.statistics.sign_flips import sign_flip
from shaketable.statistics.worst_case import worst_cases
from shaketable.types import Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class Drop(Scored):
    """What a disturbance costs at a temperature, and its rank there."""

    drop: Estimate
    """Original minus disturbed, paired by question."""
    rank: int | None
    """1: the largest drop; None: there is none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair(Scored):
    """Two disturbances: that of the cell, and another one."""

    other: str
    p: float | None
    """That the number is not 0, by signs of questions flipped; None: there was nothing to test."""
    n_left_out: int
    """Questions without a score in some cell."""

    def subject(self, kind: str) -> Subject:
        return Subject(kind=kind, cell=self.cell, metric=self.metric, other=self.other)


@dataclass(frozen=True, kw_only=True, slots=True)
class Contrast(Pair):
    """The drop of one disturbance minus that of the other at a temperature."""

    difference: Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class Interaction(Pair):
    """How far the contrast of two disturbances depends on temperature."""

    strength: Estimate
    """Partial epsilon squared of temperature, of the contrast."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranking:
    """Does temperature change which disturbance of the evidence hurts most?"""

    metric: str | None
    """The number that is spoken of."""
    drops: tuple[Drop, ...]
    contrasts: tuple[Contrast, ...]
    """Pair by pair, from cool to hot."""
    interactions: tuple[Interaction, ...]
    """One for each pair."""
    agreements: tuple[Agreement, ...]

    tells_of_evidence: ClassVar[bool] = True

    def claims(self) -> Iterable[Claim]:
        """That temperature changes how far two disturbances lie apart, and which of them hurts more at which
        temperature; of all types of question together."""
        for pair in filter(self._is_spoken_of, self.interactions):
            yield Claim(subject=pair.subject("ranking"), estimate=pair.strength, p=pair.p)
        n_temperatures = len({contrast.cell.temperature for contrast in self.contrasts})
        for contrast in filter(self._is_spoken_of, self.contrasts):
            subject, weight = contrast.subject("contrast"), 1 / n_temperatures
            reason = contrast.reason
            yield Claim(subject=subject, estimate=contrast.difference, p=contrast.p, reason=reason, weight=weight)

    def _is_spoken_of(self, pair: Pair) -> bool:
        return pair.metric == self.metric and pair.cell.group is None


def ranking(tables: Tables, *, metric: str | None = None) -> Ranking:
    """Drops with their ranks, contrasts of disturbances with a test of their change, and the agreement of rankings.

    Contrasts and agreements need two disturbances and two temperatures.
    """
    chosen = metric or tables.metric()
    disturbed = [grid for grid in grids(tables.score_reader, chosen) if grid.perturbations]
    compared = [Whole(grid) for grid in disturbed if min(len(grid.perturbations), len(grid.temperatures)) > 1]
    return Ranking(
        metric=tables.metric() if chosen == "all" else chosen,
        drops=tuple(drop for grid in disturbed for drop in _drops(grid, tables.bootstrap)),
        contrasts=tuple(contrast for whole in compared for contrast in _contrasts(whole, tables.bootstrap)),
        interactions=tuple(pair for whole in compared for pair in _interactions(whole, tables.bootstrap)),
        agreements=tuple(agreement for whole in compared for agreement in agreements_of(whole, tables.bootstrap)),
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


def _contrasts(whole: Whole, bootstrap: Bootstrap) -> list[Contrast]:
    grid, contrasts = whole.grid, whole.contrasts_of_all()
    differences = bootstrap.means(contrasts, grid.question_ids, unit=grid.unit, is_difference=True)
    cases = worst_cases(
        contrasts,
        whole.contrasts_at_ends(),
        np.full(len(contrasts), grid.is_uncertain().any()),
        lambda values: sign_flip(values, grid.question_ids),
    )
    places = [(a, b, temperature) for a, b in whole.pairs for temperature in grid.temperatures]
    return [
        Contrast(
            cell=grid.cell(perturbation=grid.perturbations[a], temperature=temperature),
            other=grid.perturbations[b],
            metric=grid.metric,
            difference=difference,
            p=case.p if whole.ids else None,
            worst_low=case.low,
            worst_high=case.high,
            n_missing=whole.n_missing,
            n_left_out=whole.n_left_out,
        )
        for (a, b, temperature), difference, case in zip(places, differences, cases, strict=True)
    ]


def _interactions(whole: Whole, bootstrap: Bootstrap) -> list[Interaction]:
    grid, filled = whole.grid, whole.grid.filled() if whole.grid.is_uncertain().any() else ()
    epsilons = partial_epsilon_squared(list(whole.effects()))
    p_values = np.max([p_of_effects(own.effects(), own.ids) for own in (whole, *map(Whole, filled))], axis=0)
    strengths = bootstrap.statistics(epsilons, whole.ids, len(whole.pairs), unit="ratio")
    constant = "the contrast is the same at all temperatures" if whole.ids else NO_SCORES
    return [
        Interaction(
            cell=grid.cell(perturbation=grid.perturbations[a]),
            other=grid.perturbations[b],
            metric=grid.metric,
            strength=replace(strength, reason=constant if strength.value is None else None),
            p=p if whole.ids else None,
            n_missing=whole.n_missing,
            n_left_out=whole.n_left_out,
        )
        for (a, b), strength, p in zip(whole.pairs, strengths, p_values.tolist(), strict=True)
    ]
