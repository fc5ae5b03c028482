"""How hot a system may run: the ceilings that follow from what it loses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shaketable.analyses.claims import TOO_FEW
from shaketable.analyses.evidence.heat_losses import Bound, Pair
from shaketable.analyses.grids import Grid
from shaketable.analyses.rows import Scored
from shaketable.factors import ORIGINAL, Cell
from shaketable.statistics.ceilings import ceiling_index
from shaketable.statistics.intervals import NO_SCORES, Indices, Numbers
from shaketable.types import Estimate

BY_BOUND = "one-sided: every loss up to it is shown to be less than the margin"
BY_VALUES = "by the values of the losses"
ONE_TEMPERATURE = "one temperature alone was tried"


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
    is_bound: bool
    """Whether losses up to it are shown to be less than the margin; else their values are."""
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
class Limits:
    """How far up each pair may go. Arrays are temperatures × pairs."""

    pairs: Sequence[Pair]
    temperatures: tuple[float, ...]
    losses: Numbers
    """The most that may be lost, or by values what is."""
    last: Indices
    """Of each pair, the last temperature within the margin; −1: none."""
    last_by_means: Indices
    bound: Bound
    confidence: float

    def ceiling(self, last: int, n: int) -> Estimate:
        """Without an interval: it is a bound itself."""
        reason: str | None = TOO_FEW if n else NO_SCORES
        if last >= 0:
            reason = None if len(self.temperatures) > 1 else ONE_TEMPERATURE
        return Estimate(
            value=self.temperatures[last] if reason is None else None,
            low=None,
            high=None,
            level=self.confidence,
            n=n,
            how=BY_BOUND if self.bound == "interval" else BY_VALUES,
            unit="temperature",
            reason=reason,
        )


def limits_of(
    pairs: Sequence[Pair], temperatures: tuple[float, ...], delta: float, bound: Bound, confidence: float
) -> Limits:
    """A system is its worst pair, and each of its pairs must be shown to lose less than the margin: an
    intersection-union test, which needs no adjustment either."""
    means, highs = (
        np.array([[np.nan if end is None else end for end in ends] for ends in of_pairs]).T
        for of_pairs in (
            [[loss.value for loss in pair.losses] for pair in pairs],
            [[loss.high for loss in pair.losses] for pair in pairs],
        )
    )
    by_means = ceiling_index(means, delta)
    is_bound = bound == "interval"
    p_values = np.array([pair.p_values for pair in pairs]).T
    return Limits(
        pairs=pairs,
        temperatures=temperatures,
        losses=highs if is_bound else means,
        last=ceiling_index(p_values, 1 - confidence) if is_bound else by_means,
        last_by_means=by_means,
        bound=bound,
        confidence=confidence,
    )


def pair_ceilings(limits: Limits) -> list[PairCeiling]:
    return [
        PairCeiling(
            cell=pair.cell,
            metric=pair.metric,
            ceiling=limits.ceiling(last, pair.losses[0].n),
            by_means=limits.temperatures[limits.last_by_means[i]] if last >= 0 else None,
            n_missing=sum(pair.n_missing),
        )
        for i, (pair, last) in enumerate(zip(limits.pairs, limits.last.tolist(), strict=True))
    ]


def system_ceiling(limits: Limits, wordings: Sequence[Grid]) -> Ceiling:
    """The worst pair decides: of several the baseline, because temperature alone is the cause there, and of those the
    one that loses most at the first temperature above the ceiling."""
    pairs, temperatures, last = limits.pairs, limits.temperatures, int(limits.last.min())
    above = min(last + 1, len(temperatures) - 1)

    def badness(i: int) -> tuple[int, bool, bool, float]:
        cell = pairs[i].cell
        loss = float(np.nan_to_num(limits.losses[above, i], nan=np.inf))
        return int(limits.last[i]), not cell.is_undisturbed, cell.variation not in (None, ORIGINAL), -loss

    worst = min(range(len(pairs)), key=badness)
    n = len({id for grid in wordings for id in grid.question_ids})
    return Ceiling(
        cell=wordings[0].cell() if len(wordings) == 1 else replace(wordings[0].cell(), variation=None),
        metric=pairs[0].metric,
        ceiling=limits.ceiling(last, n),
        by_means=temperatures[limits.last_by_means.min()] if last >= 0 else None,
        n_missing=sum(int(grid.n_missing.sum()) for grid in wordings),
        is_bound=limits.bound == "interval",
        worst=pairs[worst].cell,
        coolest=temperatures[0],
        hottest=temperatures[-1],
        next_temperature=temperatures[above] if above > last else None,
        next_loss=pairs[worst].losses[above] if above > last else None,
    )
