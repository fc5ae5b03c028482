"""Where a line begins to fall with sampling temperature, by the best hinge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from shaketable.analyses.claims import Claim, Subject
from shaketable.analyses.evidence.heat_losses import Bound
from shaketable.analyses.failures import heat_signs
from shaketable.analyses.grids import Grid
from shaketable.analyses.rows import Scored
from shaketable.statistics.ceilings import onto_grid, resampled_hinge
from shaketable.statistics.intervals import Bootstrap, complete
from shaketable.statistics.sign_flips import sign_flip
from shaketable.statistics.worst_case import WorstCase, worst_cases
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
    loss: Estimate
    """Of the hottest temperature against the coolest: without it there is no fall to speak of."""
    hottest: float
    p: float | None
    """That it is not 0, by signs of questions flipped; None: there was nothing to test."""
    is_first: bool
    """Whether it is the coolest that it can be: it may lie before."""
    n_left_out: int
    """Questions without a score at some temperature."""
    is_applied: bool = True
    """Whether temperature reaches the system; where it does not there is no onset."""


def onset_claims(onsets: Sequence[Onset]) -> Iterable[Claim]:
    """What heat costs with undisturbed evidence, of all types of question together."""
    for onset in onsets:
        if onset.cell.group is None and onset.cell.is_undisturbed and onset.is_applied:
            cell = replace(onset.cell, temperature=onset.hottest)
            yield Claim(
                subject=Subject(kind="heat", cell=cell, metric=onset.metric),
                estimate=onset.loss,
                p=onset.p,
                reason=onset.reason,
            )


def onsets_of(grid: Grid, bound: Bound, bootstrap: Bootstrap) -> list[Onset]:
    losses, least, greatest = (own.heat_drops()[:, -1] for own in (grid, *grid.at_ends(heat_signs(grid))))
    means = bootstrap.means(losses, grid.question_ids, unit=grid.unit, is_difference=True)
    uncertain = grid.is_uncertain()
    cases = worst_cases(
        losses,
        (least, greatest),
        uncertain[:, 0] | uncertain[:, -1],
        lambda values: sign_flip(values, grid.question_ids),
    )
    return [
        _onset(grid, i, bound, bootstrap, mean, case) for i, (mean, case) in enumerate(zip(means, cases, strict=True))
    ]


def _onset(grid: Grid, i: int, bound: Bound, bootstrap: Bootstrap, loss: Estimate, case: WorstCase) -> Onset:
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
        loss=loss,
        hottest=grid.temperatures[-1],
        p=case.p if loss.n else None,
        worst_low=case.low,
        worst_high=case.high,
        is_first=reason is None and onset.value == grid.temperatures[1],
        n_missing=int(grid.n_missing[i].sum()),
        n_left_out=len(grid.question_ids) - len(ids),
    )
