"""How hot may each model run, which disturbance hurts where, and which model to choose?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

from shaketable.analyses.claims import Claim
from shaketable.analyses.evidence.choices import Choice, Noise, choice_claims, choices_of, noise_claims, noise_of
from shaketable.analyses.evidence.heat_ceilings import Ceiling, PairCeiling, limits_of, pair_ceilings, system_ceiling
from shaketable.analyses.evidence.heat_losses import Bound, HeatLoss, Pair, losses_of, pairs_of
from shaketable.analyses.evidence.margins import Margin, choose_margin, margins_of
from shaketable.analyses.evidence.onsets import Onset, onset_claims, onsets_of
from shaketable.analyses.grids import Grid, systems
from shaketable.analyses.spread import stability_baselines
from shaketable.analyses.tables import Tables
from shaketable.factors import is_applied
from shaketable.statistics.intervals import Bootstrap
from shaketable.types import Estimate

SomeCeiling = TypeVar("SomeCeiling", Ceiling, PairCeiling)
NOT_APPLIED = "temperature not applied"


@dataclass(frozen=True, kw_only=True, slots=True)
class Guidelines:
    """How hot may each model run, which disturbance hurts where, and which model to choose?"""

    metric: str | None
    """The number that is spoken of."""
    ceilings: tuple[Ceiling, ...]
    """One for each system and wording, then those over several wordings."""
    pair_ceilings: tuple[PairCeiling, ...]
    losses: tuple[HeatLoss, ...]
    """What the ceilings are read from."""
    onsets: tuple[Onset, ...]
    noise: tuple[Noise, ...]
    choices: tuple[Choice, ...]
    margins: tuple[Margin, ...]
    """Of each metric: what a loss may be."""
    bound: Bound

    tells_of_evidence: ClassVar[bool] = True

    def claims(self) -> Iterable[Claim]:
        """Of the number that is spoken of: what heat and disturbances cost, and which system to choose."""
        yield from onset_claims([onset for onset in self.onsets if onset.metric == self.metric])
        yield from noise_claims([own for own in self.noise if own.metric == self.metric])
        yield from choice_claims([choice for choice in self.choices if choice.metric == self.metric])


def guidelines(
    tables: Tables, *, metric: str | None = None, margin: float | str | None = None, bound: Bound = "interval"
) -> Guidelines:
    """A ceiling is the highest temperature of those tried up to which the loss since the lowest, by its one-sided
    bound (`bound='point'`: by its value), is within the margin; a system's is that of its worst pair of evidence and
    type. An onset is where a line begins to fall, by the best hinge y = a + b max(0, T − T0).

    `margin` is in the metric's unit, or in its spread (`'0.2 sd'`); None: the study's, else 0.05 for a share and 0.2 sd
    for anything else. Systems that ignore the temperature have no ceiling and no onset. Where several wordings were
    asked, a system also has a ceiling over its worst pair of evidence and wording.
    """
    chosen = metric or tables.metric()
    grids = list(systems(tables.score_reader, chosen))
    margins = margins_of(grids, choose_margin(tables, margin, metric))
    bootstrap = tables.bootstrap
    pairs = [pairs_of(grid, margins[grid.metric].value, bound, bootstrap) for grid in grids]
    limits = [
        limits_of(own, grid.temperatures, margins[grid.metric].value, bound, bootstrap.confidence)
        for grid, own in zip(grids, pairs, strict=True)
    ]
    over, parts = _over_wordings(grids, pairs, margins, bound, bootstrap.confidence)
    single = [
        replace(_with_levels(system_ceiling(own, [grid]), grid, bootstrap), is_part=i in parts)
        for i, (grid, own) in enumerate(zip(grids, limits, strict=True))
    ]
    baselines = {name: stability_baselines(tables.of_metric(name), name, bootstrap) for name in margins}
    single = [replace(ceiling, baseline_cv=baselines[ceiling.metric].get(ceiling.cell)) for ceiling in single]
    typed = [part for grid in grids for part in (grid, *grid.by_type())]
    return Guidelines(
        metric=tables.metric() if chosen == "all" else chosen,
        ceilings=tuple(_if_applied(ceiling, tables) for ceiling in (*single, *over)),
        pair_ceilings=tuple(_if_applied(ceiling, tables) for own in limits for ceiling in pair_ceilings(own)),
        losses=tuple(
            loss for grid, own in zip(grids, pairs, strict=True) for loss in losses_of(own, grid.temperatures)
        ),
        onsets=tuple(_onset_if_applied(onset, tables) for grid in typed for onset in onsets_of(grid, bound, bootstrap)),
        noise=tuple(noise for grid in typed for noise in noise_of(grid, bootstrap)),
        choices=tuple(choices_of(grids, bootstrap)),
        margins=tuple(margins.values()),
        bound=bound,
    )


def _with_levels(ceiling: Ceiling, grid: Grid, bootstrap: Bootstrap) -> Ceiling:
    """Mean scores with original evidence at the coolest and hottest temperature."""
    if not grid.has_original:
        return ceiling
    cool, hot = bootstrap.means(grid.means[0, [0, -1]], grid.question_ids, unit=grid.unit)
    return replace(ceiling, cool=cool, hot=hot)


def _over_wordings(
    grids: Sequence[Grid],
    pairs: Sequence[Sequence[Pair]],
    margins: Mapping[str, Margin],
    bound: Bound,
    confidence: float,
) -> tuple[list[Ceiling], set[int]]:
    """A ceiling for each system that was asked in several wordings at the same temperatures, and which grids it has."""
    wordings: dict[object, list[int]] = {}
    for i, grid in enumerate(grids):
        wordings.setdefault((grid.metric, grid.temperatures, replace(grid.cell(), variation=None)), []).append(i)
    several = [indices for indices in wordings.values() if len(indices) > 1]
    ceilings = []
    for indices in several:
        asked = [grids[i] for i in indices]
        every = sorted((pair for i in indices for pair in pairs[i]), key=lambda pair: pair.cell.group or "")
        delta = margins[asked[0].metric].value
        ceilings.append(system_ceiling(limits_of(every, asked[0].temperatures, delta, bound, confidence), asked))
    return ceilings, {i for indices in several for i in indices}


def _if_applied(ceiling: SomeCeiling, tables: Tables) -> SomeCeiling:
    if is_applied(ceiling.cell, tables.not_applied):
        return ceiling
    return replace(ceiling, ceiling=_nothing(ceiling.ceiling), by_means=None, is_applied=False)


def _onset_if_applied(onset: Onset, tables: Tables) -> Onset:
    if is_applied(onset.cell, tables.not_applied):
        return onset
    return replace(onset, onset=_nothing(onset.onset), slope=_nothing(onset.slope), is_applied=False)


def _nothing(estimate: Estimate) -> Estimate:
    return replace(estimate, value=None, low=None, high=None, reason=NOT_APPLIED)
