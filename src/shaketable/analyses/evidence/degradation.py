"""Does disturbed evidence make answers worse at all temperatures?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shaketable.analyses.claims import Claim, Subject, weigh_temperatures
from shaketable.analyses.failures import worst_drops
from shaketable.analyses.grids import Grid, grids
from shaketable.analyses.rows import Scored
from shaketable.analyses.tables import Tables
from shaketable.statistics.hodges_lehmann import shift_estimates
from shaketable.statistics.intervals import Bootstrap
from shaketable.statistics.sign_flips import sign_flip
from shaketable.statistics.significance import signed_rank
from shaketable.types import Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class Loss(Scored):
    """What one disturbance costs at one temperature, paired by question."""

    drop: Estimate
    """Mean difference, original minus disturbed: positive is worse when disturbed."""
    p: float | None
    """That it is not 0, by signs flipped; None: there was nothing to test."""
    shift: Estimate
    """Hodges–Lehmann, by ranks: an extra, since it is neither a mean nor a share."""
    statistic: float | None
    """Of Wilcoxon's signed ranks."""
    p_ranks: float | None
    """Its p, one-sided."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Degradation:
    """Does disturbed evidence make answers worse at all temperatures?"""

    metric: str | None
    """The number that is spoken of."""
    losses: tuple[Loss, ...]
    """Line by line: a system, a type of question and a disturbance, from cool to hot."""

    tells_of_evidence: ClassVar[bool] = True

    def claims(self) -> Iterable[Claim]:
        """Of all types of question together."""
        weights = weigh_temperatures(loss.cell for loss in self.losses)
        for loss in self.losses:
            if loss.metric == self.metric and loss.cell.group is None:
                yield Claim(
                    subject=Subject(kind="evidence", cell=loss.cell, metric=loss.metric),
                    estimate=loss.drop,
                    p=loss.p,
                    reason=loss.reason,
                    weight=weights[loss.cell.temperature or 0.0],
                )


def degradation(tables: Tables, *, metric: str | None = None) -> Degradation:
    """Mean differences of original and disturbed, paired by question, at each temperature.

    Tested by flipping the signs of questions, which for one run of shares is McNemar's exact test; Wilcoxon's signed
    ranks and the Hodges–Lehmann shift stand beside them. `metric` of `all`: every number of which more is better.
    """
    chosen = metric or tables.metric()
    losses = [loss for grid in grids(tables.score_reader, chosen) for loss in _losses(grid, tables.bootstrap)]
    return Degradation(metric=tables.metric() if chosen == "all" else chosen, losses=tuple(losses))


def _losses(grid: Grid, bootstrap: Bootstrap) -> list[Loss]:
    if not grid.perturbations:
        return []
    drops, n_missing, n = grid.drops(), grid.n_missing_pairs(), len(grid.temperatures)
    flat = drops.reshape(-1, drops.shape[2])
    means = bootstrap.means(flat, grid.question_ids, unit=grid.unit, is_difference=True)
    cases = worst_drops(grid, lambda values: sign_flip(values, grid.question_ids))
    shifts = shift_estimates(flat, grid.question_ids, bootstrap, unit=grid.unit)
    ranks = [signed_rank(line[~np.isnan(line)]) for line in flat]
    return [
        Loss(
            cell=grid.cell(perturbation=perturbation, temperature=temperature),
            metric=grid.metric,
            drop=means[at],
            p=cases[at].p if means[at].n else None,
            worst_low=cases[at].low,
            worst_high=cases[at].high,
            shift=shifts[at],
            statistic=ranks[at][0] if means[at].n else None,
            p_ranks=ranks[at][1] if means[at].n else None,
            n_missing=int(n_missing[i, j]),
        )
        for i, perturbation in enumerate(grid.perturbations)
        for j, temperature in enumerate(grid.temperatures)
        for at in [i * n + j]
    ]
