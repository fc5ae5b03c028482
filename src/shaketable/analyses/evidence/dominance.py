"""Which matters more: temperature or evidence?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from shaketable.analyses.claims import Claim, Subject
from shaketable.analyses.grids import Grid, Number, grids
from shaketable.analyses.rows import Scored
from shaketable.analyses.tables import Tables
from shaketable.statistics.effect_sizes import p_of_difference, partial_epsilon_squared
from shaketable.statistics.intervals import Bootstrap, Numbers, Statistic, complete, cut_interval
from shaketable.types import Estimate

OUTCOMES: tuple[Number, ...] = ("mean", "cv")
N_EFFECTS = 4
"""Temperature, evidence, interaction, and the first minus the second."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Weighing(Scored):
    """Temperature against evidence, by partial epsilon squared."""

    outcome: Number
    """What is weighed of the runs of a question: their mean, or their coefficient of variation."""
    temperature: Estimate
    evidence: Estimate
    interaction: Estimate
    difference: Estimate
    """Of temperature, minus that of evidence."""
    p: float | None
    """That the two differ, by sign flips of what questions add; None: there is nothing to test."""
    n_left_out: int
    """Questions without a score in some cell."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Dominance:
    """Does temperature matter more than evidence?"""

    metric: str | None
    """The number that is spoken of."""
    weighings: tuple[Weighing, ...]

    tells_of_evidence: ClassVar[bool] = True

    def claims(self) -> Iterable[Claim]:
        """Of all types of question together."""
        for weighing in self.weighings:
            if weighing.metric == self.metric and weighing.cell.group is None:
                yield Claim(
                    subject=Subject(
                        kind="dominance", cell=weighing.cell, metric=weighing.metric, other=weighing.outcome
                    ),
                    estimate=weighing.difference,
                    p=weighing.p,
                )


def dominance(tables: Tables, *, metric: str | None = None) -> Dominance:
    """Partial epsilon squared of a two-way repeated-measures decomposition, with bootstrap intervals over questions.

    Questions without a score in some cell are left out and counted. Where questions have several runs, the same is done
    to the coefficient of variation over runs.
    """
    chosen = metric or tables.metric()
    weighings = [
        _weighing(grid, outcome, tables.bootstrap)
        for outcome in OUTCOMES
        for grid in grids(tables.score_reader, chosen, outcome)
        if min(len(grid.temperatures), len(grid.evidence)) > 1 and not np.isnan(grid.means).all()
    ]
    return Dominance(metric=tables.metric() if chosen == "all" else chosen, weighings=tuple(weighings))


def _weighing(grid: Grid, outcome: Number, bootstrap: Bootstrap) -> Weighing:
    whole = complete(grid.means)
    ids = [grid.question_ids[i] for i in whole]
    by_temperature, by_evidence, by_both = _effects(grid.means[..., whole])
    epsilons = partial_epsilon_squared([by_temperature, by_evidence, by_both])
    *effects, difference = (
        replace(estimate, reason=_reason(estimate))
        for estimate in bootstrap.statistics(_with_difference(epsilons), ids, N_EFFECTS, unit="ratio")
    )
    temperature, evidence, interaction = (cut_interval(effect, 0, 1) for effect in effects)
    return Weighing(
        cell=grid.cell(),
        metric=grid.metric,
        outcome=outcome,
        temperature=temperature,
        evidence=evidence,
        interaction=interaction,
        difference=cut_interval(difference, -1, 1),
        p=_p(grid, outcome),
        n_missing=int(grid.n_missing.sum()),
        n_left_out=len(grid.question_ids) - len(ids),
    )


def _p(grid: Grid, outcome: Number) -> float | None:
    """Of means where many answers failed the largest, whatever they would have scored."""
    is_uncertain = outcome == "mean" and grid.is_uncertain().any()
    ps = []
    for own in (grid, *grid.filled()) if is_uncertain else (grid,):
        whole = complete(own.means)
        by_temperature, by_evidence, _ = _effects(own.means[..., whole])
        ps.append(p_of_difference(by_temperature, by_evidence, [grid.question_ids[i] for i in whole]))
    known = [p for p in ps if p is not None]
    return max(known) if len(known) == len(ps) else None


def _with_difference(epsilons: Statistic) -> Statistic:
    def all_four(drawn: Numbers) -> Numbers:
        each = epsilons(drawn)
        return np.concatenate([each, each[:1] - each[1:2]])

    return all_four


def _effects(means: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Of temperature, evidence and both together on each question: what its means (evidence × temperatures × questions)
    have beyond those of fewer factors."""
    by_temperature, by_evidence, grand = means.mean(axis=0), means.mean(axis=1), means.mean(axis=(0, 1))
    by_both = means - by_temperature - by_evidence[:, None] + grand
    return by_temperature - grand, by_evidence - grand, np.concatenate(by_both)


def _reason(estimate: Estimate) -> str | None:
    if estimate.value is not None:
        return None
    return "nothing varies" if estimate.n else "no question has a score in every cell"
