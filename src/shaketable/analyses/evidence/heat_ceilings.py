"""How hot a system may run: what it loses by sampling temperature, and the ceilings that follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from shaketable.analyses.grids import Grid
from shaketable.analyses.rows import Measured, Scored
from shaketable.factors import Cell
from shaketable.statistics.ceilings import ceiling_index, onto_grid, resampled_ceilings
from shaketable.statistics.intervals import Bootstrap, Indices, Numbers
from shaketable.types import Estimate

Bound = Literal["interval", "point"]
"""What of a loss must lie within the margin: the upper end of its interval, or its value."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HeatLoss(Scored):
    """What a temperature costs against the coolest, paired by question."""

    loss: Estimate
    """Positive: worse when hotter."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PairCeiling(Scored):
    """The hottest temperature up to which one kind of evidence and type of question lose no more than the margin."""

    ceiling: Estimate
    by_means: float | None
    """The ceiling by the values of the losses, whatever their intervals; None: there is none."""
    is_applied: bool = True
    """Whether temperature reaches the system; where it does not there is no ceiling."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ceiling(Scored):
    """The same for a system: that of its worst pair of evidence and type, over all wordings or of one.

    Its cell has no variation where it is over several wordings.
    """

    ceiling: Estimate
    by_means: float | None
    worst: Cell
    """The pair that decides."""
    coolest: float
    hottest: float
    next_temperature: float | None
    """The first above the ceiling; None: the ceiling is the hottest that was tried."""
    next_loss: Estimate | None
    """Of the worst pair, there."""
    cool: Estimate | None = None
    """The mean score with original evidence at the coolest temperature; None: of several wordings, or no original."""
    hot: Estimate | None = None
    """And at the hottest."""
    baseline_cv: Estimate | None = None
    """The mean over temperatures of the coefficient of variation with original evidence."""
    is_part: bool = False
    """Whether there is one over all wordings, which says more."""
    is_applied: bool = True
    """Whether temperature reaches the system; where it does not there is no ceiling."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair(Measured):
    """One kind of evidence and type of question, at all temperatures."""

    question_ids: tuple[str, ...]
    drops: Numbers
    """Coolest minus each temperature, temperatures × questions."""
    losses: tuple[Estimate, ...]
    """Their means, by temperature."""
    n_missing: tuple[int, ...]
    """Records without a score, by temperature."""


def pairs_of(grid: Grid, bootstrap: Bootstrap) -> list[Pair]:
    pairs = []
    for typed in grid.by_type() or [grid]:
        drops, n_missing = typed.heat_drops(), typed.n_missing.sum(axis=-1)
        flat = bootstrap.means(
            drops.reshape(-1, drops.shape[2]), typed.question_ids, unit=grid.unit, is_difference=True
        )
        n = len(grid.temperatures)
        pairs += [
            Pair(
                cell=typed.cell(perturbation=evidence),
                metric=grid.metric,
                question_ids=typed.question_ids,
                drops=drops[i],
                losses=tuple(flat[i * n : (i + 1) * n]),
                n_missing=tuple(n_missing[i].tolist()),
            )
            for i, evidence in enumerate(typed.evidence)
        ]
    return pairs


def losses_of(pairs: Sequence[Pair], temperatures: Sequence[float]) -> list[HeatLoss]:
    return [
        HeatLoss(
            cell=replace(pair.cell, temperature=temperature),
            metric=pair.metric,
            loss=pair.losses[i],
            n_missing=pair.n_missing[0] + pair.n_missing[i],
        )
        for pair in pairs
        for i, temperature in enumerate(temperatures)
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """How far up each pair may go. Arrays are temperatures × pairs."""

    pairs: Sequence[Pair]
    temperatures: tuple[float, ...]
    means: Numbers
    losses: Numbers
    """What must lie within the margin."""
    last: Indices
    """Of each pair, the last temperature within the margin; −1: none."""
    last_by_means: Indices
    intervals: Sequence[Estimate]
    """Of the ceilings by mean losses, of each pair and last of the worst of each resample."""

    def ceiling(self, last: int, means: Numbers, interval: Estimate, n: int) -> Estimate:
        if last < 0:
            reason = "no scores" if np.isnan(means).all() else "too few questions for an interval"
            return replace(interval, value=None, low=None, high=None, n=n, reason=reason)
        low, high = interval.low, interval.high
        if low is not None and high is not None:
            low, high = onto_grid(low, high, self.temperatures)
        return replace(interval, value=self.temperatures[last], low=low, high=high, n=n)


def limits_of(
    pairs: Sequence[Pair], temperatures: tuple[float, ...], delta: float, bound: Bound, bootstrap: Bootstrap
) -> Limits:
    means, highs = (
        np.array([[np.nan if end is None else end for end in ends] for ends in of_pairs]).T
        for of_pairs in (
            [[loss.value for loss in pair.losses] for pair in pairs],
            [[loss.high for loss in pair.losses] for pair in pairs],
        )
    )
    losses = highs if bound == "interval" else means
    losses[0] *= 0  # What is compared with itself loses nothing.
    return Limits(
        pairs=pairs,
        temperatures=temperatures,
        means=means,
        losses=losses,
        last=ceiling_index(losses, delta),
        last_by_means=ceiling_index(means, delta),
        intervals=_intervals(pairs, temperatures, delta, bootstrap),
    )


def pair_ceilings(limits: Limits) -> list[PairCeiling]:
    return [
        PairCeiling(
            cell=pair.cell,
            metric=pair.metric,
            ceiling=limits.ceiling(last, limits.means[:, i], limits.intervals[i], len(pair.question_ids)),
            by_means=limits.temperatures[limits.last_by_means[i]] if last >= 0 else None,
            n_missing=sum(pair.n_missing),
        )
        for i, (pair, last) in enumerate(zip(limits.pairs, limits.last.tolist(), strict=True))
    ]


def system_ceiling(limits: Limits, wordings: Sequence[Grid]) -> Ceiling:
    """The worst pair decides; of several the one that loses most at the first temperature above the ceiling."""
    pairs, temperatures, last = limits.pairs, limits.temperatures, int(limits.last.min())
    above = min(last + 1, len(temperatures) - 1)
    worst = min(range(len(pairs)), key=lambda i: (limits.last[i], -np.nan_to_num(limits.losses[above, i], nan=np.inf)))
    n = len({id for grid in wordings for id in grid.question_ids})
    return Ceiling(
        cell=wordings[0].cell() if len(wordings) == 1 else replace(wordings[0].cell(), variation=None),
        metric=pairs[0].metric,
        ceiling=limits.ceiling(last, limits.means.min(axis=1), limits.intervals[-1], n),
        by_means=temperatures[limits.last_by_means.min()] if last >= 0 else None,
        n_missing=sum(int(grid.n_missing.sum()) for grid in wordings),
        worst=pairs[worst].cell,
        coolest=temperatures[0],
        hottest=temperatures[-1],
        next_temperature=temperatures[above] if above > last else None,
        next_loss=pairs[worst].losses[above] if above > last else None,
    )


def _intervals(
    pairs: Sequence[Pair], temperatures: tuple[float, ...], delta: float, bootstrap: Bootstrap
) -> list[Estimate]:
    ids = sorted({id for pair in pairs for id in pair.question_ids})
    drops = np.full((len(pairs), len(temperatures), len(ids)), np.nan)
    for i, pair in enumerate(pairs):
        drops[i][:, np.searchsorted(ids, pair.question_ids)] = pair.drops
    some = ~np.isnan(drops).all(axis=(0, 1))
    return bootstrap.statistics(
        resampled_ceilings(drops[..., some], temperatures, delta),
        [ids[i] for i in np.flatnonzero(some)],
        len(pairs) + 1,
        unit="temperature",
    )
