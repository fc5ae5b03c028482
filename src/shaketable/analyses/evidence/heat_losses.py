"""What a system loses by sampling temperature, of each pair of evidence and type of question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Literal

from shaketable.analyses.failures import worst_heat_drops
from shaketable.analyses.floors import N_LEAST
from shaketable.analyses.grids import Grid
from shaketable.analyses.rows import Measured, Scored
from shaketable.statistics.bounds import p_noninferior
from shaketable.statistics.differences import bound_differences
from shaketable.statistics.intervals import Bootstrap, Numbers
from shaketable.types import Estimate

Bound = Literal["interval", "point"]
"""What of a loss must lie within the margin: its one-sided upper bound, or its value."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HeatLoss(Scored):
    """What a temperature costs against the coolest, paired by question."""

    loss: Estimate
    """Positive: worse when hotter."""
    p: float | None
    """That less than the margin is lost: below a where the one-sided bound of confidence 1 − a lies below the margin.
    None: too few questions."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair(Measured):
    """One kind of evidence and type of question, at all temperatures."""

    question_ids: tuple[str, ...]
    losses: tuple[Estimate, ...]
    """Their means, by temperature."""
    p_values: tuple[float, ...]
    """That less than the margin is lost, whatever failed answers would have scored; NaN: too few questions."""
    n_missing: tuple[int, ...]
    """Records without a score, by temperature."""


def pairs_of(grid: Grid, delta: float, bound: Bound, bootstrap: Bootstrap) -> list[Pair]:
    return [pair for part in _parts(grid, bound) for pair in _pairs(part, delta, bootstrap)]


def _parts(grid: Grid, bound: Bound) -> Sequence[Grid]:
    """Types of question; where some have too few to show anything they are asked together with all others."""
    types = grid.by_type()
    enough = [part for part in types if len(part.question_ids) >= N_LEAST]
    return types if types and (bound == "point" or len(enough) == len(types)) else [grid, *enough]


def _pairs(grid: Grid, delta: float, bootstrap: Bootstrap) -> list[Pair]:
    def test_margin(values: Numbers) -> list[float]:
        ps: list[float] = p_noninferior(bound_differences(values, grid.unit == "share"), delta).tolist()
        return ps

    drops, n_missing, n = grid.heat_drops(), grid.n_missing.sum(axis=-1), len(grid.temperatures)
    losses = bootstrap.means(drops.reshape(-1, drops.shape[2]), grid.question_ids, unit=grid.unit, is_difference=True)
    cases = worst_heat_drops(grid, test_margin, keeps_sign=False)
    return [
        Pair(
            cell=grid.cell(perturbation=evidence),
            metric=grid.metric,
            question_ids=grid.question_ids,
            losses=tuple(losses[i * n : (i + 1) * n]),
            p_values=tuple(
                nan
                if losses[at].n < N_LEAST
                else cases[at].p
                if at > i * n
                else 0.0  # The coolest is what others lose from.
                for at in range(i * n, (i + 1) * n)
            ),
            n_missing=tuple(n_missing[i].tolist()),
        )
        for i, evidence in enumerate(grid.evidence)
    ]


def losses_of(pairs: Sequence[Pair], temperatures: Sequence[float]) -> list[HeatLoss]:
    return [
        HeatLoss(
            cell=replace(pair.cell, temperature=temperature),
            metric=pair.metric,
            loss=pair.losses[i],
            p=None if isnan(pair.p_values[i]) else pair.p_values[i],
            n_missing=pair.n_missing[0] + pair.n_missing[i],
        )
        for pair in pairs
        for i, temperature in enumerate(temperatures)
    ]
