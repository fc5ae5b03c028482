"""Does disturbed evidence make answers worse at all temperatures?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shaketable.analyses.grids import Grid, grids
from shaketable.analyses.rows import Scored
from shaketable.analyses.tables import Tables
from shaketable.statistics.hodges_lehmann import shift_estimates
from shaketable.statistics.intervals import Bootstrap
from shaketable.statistics.significance import holm, signed_rank
from shaketable.types import Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class Loss(Scored):
    """What one disturbance costs at one temperature, paired by question."""

    shift: Estimate
    """Hodges–Lehmann, original minus disturbed: positive is worse when disturbed."""
    mean: float | None
    """Mean difference."""
    statistic: float | None
    p: float | None
    """One-sided, from Wilcoxon's signed ranks."""
    p_adjusted: float | None
    """By Holm, over the temperatures of the line."""
    is_shown: bool | None
    """Whether a loss is shown: not being shown is not the same as no loss. None: there was nothing to test."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Degradation:
    """Does disturbed evidence make answers worse at all temperatures?"""

    losses: tuple[Loss, ...]
    """Line by line: a system, a type of question and a disturbance, from cool to hot."""
    alpha: float

    tells_of_evidence: ClassVar[bool] = True


def degradation(tables: Tables, *, metric: str | None = None, alpha: float = 0.05) -> Degradation:
    """One-sided Wilcoxon signed-rank tests of original minus disturbed, paired by question, one per temperature.

    A p is adjusted over the temperatures of a line, which is a system, a type of question and a disturbance.
    """
    losses = [
        loss
        for grid in grids(tables.scores, metric or tables.metric())
        for loss in _losses(grid, alpha, tables.bootstrap)
    ]
    return Degradation(losses=tuple(losses), alpha=alpha)


def _losses(grid: Grid, alpha: float, bootstrap: Bootstrap) -> list[Loss]:
    if not grid.perturbations:
        return []
    drops, n_missing = grid.drops(), grid.n_missing_pairs()
    shifts = shift_estimates(drops.reshape(-1, drops.shape[2]), grid.question_ids, bootstrap, unit=grid.unit)
    losses = []
    for i, perturbation in enumerate(grid.perturbations):
        paired = [line[~np.isnan(line)] for line in drops[i]]
        tests = [signed_rank(line) if len(line) else (None, None) for line in paired]
        adjusted = holm([p for _, p in tests])
        losses += [
            Loss(
                cell=grid.cell(perturbation=perturbation, temperature=temperature),
                metric=grid.metric,
                shift=shifts[i * len(grid.temperatures) + j],
                mean=float(paired[j].mean()) if len(paired[j]) else None,
                n_missing=int(n_missing[i, j]),
                statistic=tests[j][0],
                p=tests[j][1],
                p_adjusted=adjusted[j],
                is_shown=None if (p := adjusted[j]) is None else p < alpha,
            )
            for j, temperature in enumerate(grid.temperatures)
        ]
    return losses
