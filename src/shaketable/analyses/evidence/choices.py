"""What each disturbance costs at each temperature, and which system is best where it is coolest and hottest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from shaketable.analyses.claims import Claim, Subject, weigh_temperatures
from shaketable.analyses.failures import worst_drops
from shaketable.analyses.grids import Grid
from shaketable.analyses.rows import Scored
from shaketable.factors import ORIGINAL, Cell
from shaketable.statistics.intervals import ROUNDING, Bootstrap, Numbers, complete
from shaketable.statistics.sign_flips import sign_flip
from shaketable.statistics.worst_case import worst_cases
from shaketable.types import Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class Noise(Scored):
    """What a disturbance costs at a temperature, paired by question."""

    cost: Estimate
    """Original minus disturbed: positive is worse when disturbed."""
    p: float | None
    """That it is not 0, by signs of questions flipped; None: there was nothing to test."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice(Scored):
    """The best system against the next, on the questions that all of them answered with original evidence.

    Its cell is that of the best.
    """

    other: Cell
    """Of the next."""
    lead: Estimate
    """Over the next."""
    p: float
    """That it leads each of the others: the largest p of all of them, by signs of questions flipped."""
    mean: float
    """Of the best."""
    n_systems: int
    n_left_out: int
    """Questions that some system has no score of."""

    def name_other(self) -> str:
        """The next, in a word that tells it from all others."""
        system = self.other.system
        names = (system.model, system.method, system.retriever) if system else ()
        return " · ".join(name for name in names if name)


def noise_claims(noise: Sequence[Noise]) -> Iterable[Claim]:
    """What disturbances cost, of all types of question together."""
    weights = weigh_temperatures(own.cell for own in noise)
    for own in noise:
        if own.cell.group is None:
            yield Claim(
                subject=Subject(kind="evidence", cell=own.cell, metric=own.metric),
                estimate=own.cost,
                p=own.p,
                reason=own.reason,
                weight=weights[own.cell.temperature or 0.0],
            )


def choice_claims(choices: Sequence[Choice]) -> Iterable[Claim]:
    for choice in choices:
        yield Claim(
            subject=Subject(kind="choice", cell=choice.cell, metric=choice.metric, other=choice.name_other()),
            estimate=choice.lead,
            p=choice.p,
            reason=choice.reason,
        )


def noise_of(grid: Grid, bootstrap: Bootstrap) -> list[Noise]:
    if not grid.perturbations:
        return []
    drops, n_missing = grid.drops(), grid.n_missing_pairs()
    costs = bootstrap.means(drops.reshape(-1, drops.shape[2]), grid.question_ids, unit=grid.unit, is_difference=True)
    cases = worst_drops(grid, lambda values: sign_flip(values, grid.question_ids))
    return [
        Noise(
            cell=grid.cell(perturbation=perturbation, temperature=temperature),
            metric=grid.metric,
            cost=costs[at],
            p=cases[at].p if costs[at].n else None,
            worst_low=cases[at].low,
            worst_high=cases[at].high,
            n_missing=int(n_missing[i, j]),
        )
        for i, perturbation in enumerate(grid.perturbations)
        for j, temperature in enumerate(grid.temperatures)
        for at in [i * len(grid.temperatures) + j]
    ]


def choices_of(systems: Sequence[Grid], bootstrap: Bootstrap) -> list[Choice]:
    """Of each metric and dataset, among systems that were asked with original evidence and, where questions were
    reworded, in the original words: two wordings of one system are no choice."""
    fields: dict[tuple[str, str], list[Grid]] = {}
    for grid in systems:
        if grid.has_original:
            fields.setdefault((grid.metric, str(grid.cell().dataset)), []).append(grid)
    choices = []
    for _, rivals in sorted(fields.items(), key=lambda field: field[0]):
        rivals = _in_the_same_words(rivals)
        shared = sorted(set.intersection(*(set(grid.temperatures) for grid in rivals)))
        if len(rivals) > 1 and shared:
            choices += [_choice(rivals, temperature, bootstrap) for temperature in sorted({shared[0], shared[-1]})]
    return [choice for choice in choices if choice is not None]


def _in_the_same_words(grids: Sequence[Grid]) -> list[Grid]:
    asked = {grid.variation for grid in grids}
    words = ORIGINAL if ORIGINAL in asked else min(asked)
    return [grid for grid in grids if grid.variation == words]


def _choice(rivals: Sequence[Grid], temperature: float, bootstrap: Bootstrap) -> Choice | None:
    """None: no question has a score of all of them."""
    at = [grid.temperatures.index(temperature) for grid in rivals]
    ids = sorted({id for grid in rivals for id in grid.question_ids})
    values = _scores(rivals, at, ids)
    whole = complete(values)
    if not len(whole):
        return None
    best, second, *others = np.argsort(-np.round(values[:, whole].mean(axis=1), ROUNDING), kind="stable")

    def leads(scores: Numbers) -> Numbers:
        ahead = np.full((len(rivals) - 1, len(ids)), np.nan)
        shared = complete(scores)
        ahead[:, shared] = np.round(scores[best] - scores[[second, *others]], ROUNDING)[:, shared]
        return ahead

    least, greatest = (_scores(own, at, ids) for own in zip(*(grid.filled() for grid in rivals), strict=True))
    is_best = np.arange(len(rivals))[:, None] == best
    ends = leads(np.where(is_best, least, greatest)), leads(np.where(is_best, greatest, least))
    uncertain = np.array([grid.is_uncertain()[0, i] for grid, i in zip(rivals, at, strict=True)])
    is_uncertain = uncertain[best] | uncertain[[second, *others]]
    cases = worst_cases(leads(values), ends, is_uncertain, lambda some: sign_flip(some, ids))
    (lead,) = bootstrap.means(leads(values)[:1], ids, unit=rivals[best].unit, is_difference=True)
    cell, other = (rivals[i].cell(perturbation=rivals[i].evidence[0], temperature=temperature) for i in (best, second))
    return Choice(
        cell=cell,
        other=other,
        metric=rivals[best].metric,
        lead=lead,
        mean=float(values[best, whole].mean()),
        p=max(case.p for case in cases),
        worst_low=cases[0].low,
        worst_high=cases[0].high,
        n_systems=len(rivals),
        n_missing=sum(int(grid.n_missing[0, i].sum()) for grid, i in zip(rivals, at, strict=True)),
        n_left_out=len(ids) - len(whole),
    )


def _scores(rivals: Sequence[Grid], at: Sequence[int], ids: Sequence[str]) -> Numbers:
    """With original evidence, rivals × questions, each at its place of the temperature."""
    scores = np.full((len(rivals), len(ids)), np.nan)
    for row, grid, i in zip(scores, rivals, at, strict=True):
        row[np.searchsorted(ids, grid.question_ids)] = grid.means[0, i]
    return scores
