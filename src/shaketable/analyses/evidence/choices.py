"""What each disturbance costs at each temperature, and which system is best where it is coolest and hottest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from shaketable.analyses.grids import Grid
from shaketable.analyses.rows import Scored
from shaketable.factors import Cell
from shaketable.statistics.intervals import ROUNDING, Bootstrap, Sign, sign_shown
from shaketable.types import Estimate

Effect = Literal["hurts", "helps", "unclear"]
EFFECTS: dict[Sign, Effect] = {1: "hurts", -1: "helps", 0: "unclear"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Noise(Scored):
    """What a disturbance costs at a temperature, paired by question."""

    cost: Estimate
    """Original minus disturbed: positive is worse when disturbed."""
    effect: Effect | None
    """By the interval; None: there is no estimate."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice(Scored):
    """The best system against the next, on the questions that all of them answered with original evidence.

    Its cell is that of the best.
    """

    other: Cell
    """Of the next."""
    lead: Estimate
    mean: float
    """Of the best."""
    is_clear: bool
    """Whether the interval of the lead lies above 0."""
    n_systems: int
    n_left_out: int
    """Questions that some system has no score of."""


def noise_of(grid: Grid, bootstrap: Bootstrap) -> list[Noise]:
    if not grid.perturbations:
        return []
    drops, n_missing = grid.drops(), grid.n_missing_pairs()
    costs = bootstrap.means(drops.reshape(-1, drops.shape[2]), grid.question_ids, unit=grid.unit, is_difference=True)
    return [
        Noise(
            cell=grid.cell(perturbation=perturbation, temperature=temperature),
            metric=grid.metric,
            cost=(cost := costs[i * len(grid.temperatures) + j]),
            effect=None if cost.value is None else EFFECTS[sign_shown(cost)],
            n_missing=int(n_missing[i, j]),
        )
        for i, perturbation in enumerate(grid.perturbations)
        for j, temperature in enumerate(grid.temperatures)
    ]


def choices_of(systems: Sequence[Grid], bootstrap: Bootstrap) -> list[Choice]:
    """Of each metric and dataset, among systems that were asked with original evidence."""
    fields: dict[tuple[str, str], list[Grid]] = {}
    for grid in systems:
        if grid.has_original:
            fields.setdefault((grid.metric, str(grid.cell().dataset)), []).append(grid)
    choices = []
    for _, rivals in sorted(fields.items(), key=lambda field: field[0]):
        shared = sorted(set.intersection(*(set(grid.temperatures) for grid in rivals)))
        if len(rivals) > 1 and shared:
            choices += [_choice(rivals, temperature, bootstrap) for temperature in sorted({shared[0], shared[-1]})]
    return [choice for choice in choices if choice is not None]


def _choice(rivals: Sequence[Grid], temperature: float, bootstrap: Bootstrap) -> Choice | None:
    """None: no question has a score of all of them."""
    at = [grid.temperatures.index(temperature) for grid in rivals]
    scores = [
        {id: mean for id, mean in zip(grid.question_ids, grid.means[0, i], strict=True) if not np.isnan(mean)}
        for grid, i in zip(rivals, at, strict=True)
    ]
    ids = sorted(set.intersection(*(set(of_grid) for of_grid in scores)))
    if not ids:
        return None
    values = np.array([[of_grid[id] for id in ids] for of_grid in scores])
    best, second = np.argsort(-np.round(values.mean(axis=1), ROUNDING), kind="stable")[:2]
    unit = rivals[best].unit
    (lead,) = bootstrap.means((values[best] - values[second])[None], ids, unit=unit, is_difference=True)
    cell, other = (rivals[i].cell(perturbation=rivals[i].evidence[0], temperature=temperature) for i in (best, second))
    return Choice(
        cell=cell,
        other=other,
        metric=rivals[best].metric,
        lead=lead,
        mean=float(values[best].mean()),
        is_clear=lead.low is not None and lead.low > 0,
        n_systems=len(rivals),
        n_missing=sum(int(grid.n_missing[0, i].sum()) for grid, i in zip(rivals, at, strict=True)),
        n_left_out=len({id for grid in rivals for id in grid.question_ids}) - len(ids),
    )
