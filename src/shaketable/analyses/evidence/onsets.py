"""Where a line begins to fall with sampling temperature, by the best hinge."""

from __future__ import annotations

from dataclasses import dataclass, replace

from shaketable.analyses.evidence.heat_ceilings import Bound
from shaketable.analyses.grids import Grid
from shaketable.analyses.rows import Scored
from shaketable.statistics.ceilings import onto_grid, resampled_hinge
from shaketable.statistics.intervals import Bootstrap, complete
from shaketable.types import Estimate

FEWEST = 4
"""Temperatures, for a hinge."""
DUST = 1e-12


@dataclass(frozen=True, kw_only=True, slots=True)
class Onset(Scored):
    """The best fit of y = a + b max(0, T − T0) to the means of one kind of evidence and type of question."""

    onset: Estimate
    """T0."""
    slope: Estimate
    """b, per unit of temperature; known also where it is too uncertain for an onset."""
    is_first: bool
    """Whether it is the coolest that it can be: it may lie before."""
    n_left_out: int
    """Questions without a score at some temperature."""
    is_applied: bool = True
    """Whether temperature reaches the system; where it does not there is no onset."""


def onsets_of(grid: Grid, bound: Bound, bootstrap: Bootstrap) -> list[Onset]:
    return [_onset(grid, i, bound, bootstrap) for i in range(len(grid.evidence))]


def _onset(grid: Grid, i: int, bound: Bound, bootstrap: Bootstrap) -> Onset:
    whole = complete(grid.means[i])
    ids = [grid.question_ids[j] for j in whole]
    nothing = bootstrap.estimate(*[float("nan")] * 3, n=len(ids), unit="temperature")
    onset, slope, reason = nothing, nothing, None
    if len(grid.temperatures) < FEWEST:
        reason = "fewer than four temperatures"
    elif not ids:
        reason = "no question has a score at every temperature"
    else:
        hinge = resampled_hinge(grid.means[i][:, whole], grid.temperatures)
        onset, slope = bootstrap.statistics(hinge, ids, 2, unit="temperature", method="percentile")
        # A slope that may be 0 has no onset; by point values it is enough that the line falls.
        highest = slope.high if bound == "interval" else slope.value
        if highest is None or not highest < -DUST:
            onset, reason = nothing, "no decline was found"
    if onset.low is not None and onset.high is not None:
        low, high = onto_grid(onset.low, onset.high, grid.temperatures)
        onset = replace(onset, low=low, high=high)
    return Onset(
        cell=grid.cell(perturbation=grid.evidence[i]),
        metric=grid.metric,
        onset=replace(onset, reason=reason),
        slope=replace(slope, unit=grid.unit, reason=reason if slope.value is None else None),
        is_first=reason is None and onset.value == grid.temperatures[1],
        n_missing=int(grid.n_missing[i].sum()),
        n_left_out=len(grid.question_ids) - len(ids),
    )
