"""Does sampling temperature amplify the harm of disturbed evidence?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from shaketable.analyses.claims import Claim, Subject
from shaketable.analyses.failures import worst_of
from shaketable.analyses.grids import Grid, grids
from shaketable.analyses.rows import Scored
from shaketable.analyses.tables import Tables
from shaketable.statistics.intervals import ROUNDING, Bootstrap, Numbers, Statistic, alike, complete, mean_of
from shaketable.statistics.sign_flips import sign_flip
from shaketable.types import Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class Ratio(Scored):
    """What a disturbance costs at a temperature, over what it costs at the coolest."""

    ratio: Estimate
    """Of the mean drops of questions that have both."""
    coolest: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Slope(Scored):
    """How the cost of a disturbance changes per unit of temperature."""

    slope: Estimate
    """Of the least-squares line through the mean drops."""
    p: float | None
    """That it is not 0, by signs of questions flipped; None: there was nothing to test."""
    n_left_out: int
    """Questions without a drop at some temperature."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Amplification:
    """Does heat amplify the harm of disturbed evidence?"""

    metric: str | None
    """The number that is spoken of."""
    ratios: tuple[Ratio, ...]
    slopes: tuple[Slope, ...]
    """None where there is one temperature alone."""
    min_drop: float
    """The least that is divided by."""

    tells_of_evidence: ClassVar[bool] = True

    def claims(self) -> Iterable[Claim]:
        """Slopes, of all types of question together."""
        for slope in self.slopes:
            if slope.metric == self.metric and slope.cell.group is None:
                yield Claim(
                    subject=Subject(kind="amplification", cell=slope.cell, metric=slope.metric),
                    estimate=slope.slope,
                    p=slope.p,
                    reason=slope.reason,
                )


def amplification(tables: Tables, *, metric: str | None = None, min_drop: float = 0.001) -> Amplification:
    """The mean drop at each temperature over that at the lowest, and the slope of the drops over temperatures.

    A ratio is None where the mean drop at the coolest temperature is below `min_drop`, and has no interval where it is
    in some resample. The slope comes from the questions that have a drop at every temperature.
    """
    chosen = metric or tables.metric()
    disturbed = [grid for grid in grids(tables.score_reader, chosen) if grid.perturbations]
    return Amplification(
        metric=tables.metric() if chosen == "all" else chosen,
        ratios=tuple(ratio for grid in disturbed for ratio in _ratios(grid, min_drop, tables.bootstrap)),
        slopes=tuple(
            _slope(grid, i, tables.bootstrap)
            for grid in disturbed
            if len(grid.temperatures) > 1
            for i in range(len(grid.perturbations))
        ),
        min_drop=min_drop,
    )


def _ratios(grid: Grid, min_drop: float, bootstrap: Bootstrap) -> list[Ratio]:
    drops, n_missing = grid.drops(), grid.n_missing_pairs()
    estimates = _ratio_estimates(drops, grid.question_ids, min_drop, bootstrap)
    return [
        Ratio(
            cell=grid.cell(perturbation=perturbation, temperature=temperature),
            metric=grid.metric,
            ratio=estimates[i * len(grid.temperatures) + j],
            coolest=grid.temperatures[0],
            n_missing=int(n_missing[i, j]),
        )
        for i, perturbation in enumerate(grid.perturbations)
        for j, temperature in enumerate(grid.temperatures)
    ]


def _ratio_estimates(
    drops: Numbers, question_ids: Sequence[str], min_drop: float, bootstrap: Bootstrap
) -> list[Estimate]:
    """Each comes from the questions that have both drops."""
    hot = drops.reshape(-1, drops.shape[2])
    cool = np.repeat(drops[:, 0], drops.shape[1], axis=0)
    both = ~np.isnan(hot) & ~np.isnan(cool)
    nothing = bootstrap.estimate(np.nan, np.nan, np.nan, n=0, unit="ratio", reason="no scores")
    estimates = [nothing] * len(hot)
    for rows, columns in alike(both):
        here = np.ix_(rows, columns)
        statistic = _ratio_of_means(hot[here], cool[here], min_drop)
        ids = [question_ids[i] for i in columns]
        for row, estimate in zip(rows, bootstrap.statistics(statistic, ids, len(rows), unit="ratio"), strict=True):
            estimates[row] = replace(estimate, reason=_reason(estimate, min_drop))
    return estimates


def _ratio_of_means(hot: Numbers, cool: Numbers, min_drop: float) -> Statistic:
    def ratio(drawn: Numbers) -> Numbers:
        over, under = mean_of(hot)(drawn), mean_of(cool)(drawn)
        return np.divide(over, under, out=np.full_like(over, np.nan), where=under >= min_drop)

    return ratio


def _reason(ratio: Estimate, min_drop: float) -> str | None:
    if ratio.value is None:
        return f"the drop at the lowest temperature is below {min_drop:g}"
    if ratio.low is None and ratio.n > 1:
        return f"the drop at the lowest temperature is below {min_drop:g} in some resamples"
    return None


def _slope(grid: Grid, i: int, bootstrap: Bootstrap) -> Slope:
    slopes, uncertain = _slopes(grid, i), grid.is_uncertain()
    is_uncertain = uncertain[:1].any() | uncertain[i + 1].any()
    (slope,) = bootstrap.means(slopes, grid.question_ids, unit=grid.unit, is_difference=True)
    warmth = np.sign(np.array(grid.temperatures) - np.mean(grid.temperatures))  # As a slope weighs temperatures.
    signs = np.where(np.arange(len(grid.evidence))[:, None] == 0, warmth, -warmth)
    (case,) = worst_of(
        grid,
        signs,
        lambda own: _slopes(own, i),
        np.array([is_uncertain]),
        lambda values: sign_flip(values, grid.question_ids),
    )
    return Slope(
        cell=grid.cell(perturbation=grid.perturbations[i]),
        metric=grid.metric,
        slope=slope if slope.n else replace(slope, reason="no question has a drop at every temperature"),
        p=case.p if slope.n else None,
        worst_low=case.low,
        worst_high=case.high,
        n_missing=int(grid.n_missing_pairs()[i].sum()),
        n_left_out=len(grid.question_ids) - slope.n,
    )


def _slopes(grid: Grid, i: int) -> Numbers:
    """Of each question, NaN without a drop at some temperature.

    The mean of the questions' own slopes is the slope of their means, since all have the same temperatures.
    """
    drops = grid.drops()[i]
    whole = complete(drops)
    slopes = np.full((1, drops.shape[1]), np.nan)
    if len(whole):
        slopes[0, whole] = np.round(np.polyfit(grid.temperatures, drops[:, whole], 1)[0], ROUNDING)
    return slopes
