"""Which matters more: temperature or evidence?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from shaketable.analyses.grids import Grid, Number, grids
from shaketable.analyses.rows import Scored
from shaketable.analyses.tables import Tables
from shaketable.statistics.intervals import ROUNDING, Bootstrap, Numbers, Sign, Statistic, complete, mean_of, sign_shown
from shaketable.types import Estimate

OUTCOMES: tuple[Number, ...] = ("mean", "cv")
N_EFFECTS = 4
"""Temperature, evidence, interaction, and the first minus the second."""
Stronger = Literal["temperature", "evidence", "undecided"]
STRONGER: dict[Sign, Stronger] = {1: "temperature", -1: "evidence", 0: "undecided"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Weighing(Scored):
    """Temperature against evidence, by partial eta squared."""

    outcome: Number
    """What is weighed of the runs of a question: their mean, or their coefficient of variation."""
    temperature: Estimate
    evidence: Estimate
    interaction: Estimate
    difference: Estimate
    """Of temperature, minus that of evidence."""
    stronger: Stronger | None
    """By the interval of the difference; None: there is none to read."""
    n_left_out: int
    """Questions without a score in some cell."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Dominance:
    """Does temperature matter more than evidence?"""

    weighings: tuple[Weighing, ...]

    tells_of_evidence: ClassVar[bool] = True


def dominance(tables: Tables, *, metric: str | None = None) -> Dominance:
    """Partial eta squared of a two-way repeated-measures decomposition, with bootstrap intervals over questions.

    Temperature is stronger where the interval of the difference lies above 0, evidence where it lies below. Questions
    without a score in some cell are left out and counted. Where questions have several runs, the same is done to the
    coefficient of variation over runs.
    """
    weighings = [
        _weighing(grid, outcome, tables.bootstrap)
        for outcome in OUTCOMES
        for grid in grids(tables.scores, metric or tables.metric(), outcome)
        if min(len(grid.temperatures), len(grid.evidence)) > 1 and not np.isnan(grid.means).all()
    ]
    return Dominance(weighings=tuple(weighings))


def _weighing(grid: Grid, outcome: Number, bootstrap: Bootstrap) -> Weighing:
    whole = complete(grid.means)
    ids = [grid.question_ids[i] for i in whole]
    statistic = partial_eta_squared(grid.means[..., whole])
    temperature, evidence, interaction, difference = (
        replace(estimate, reason=_reason(estimate))
        for estimate in bootstrap.statistics(statistic, ids, N_EFFECTS, unit="ratio")
    )
    return Weighing(
        cell=grid.cell(),
        metric=grid.metric,
        outcome=outcome,
        temperature=temperature,
        evidence=evidence,
        interaction=interaction,
        difference=difference,
        stronger=None if difference.value is None else STRONGER[sign_shown(difference)],
        n_missing=int(grid.n_missing.sum()),
        n_left_out=len(grid.question_ids) - len(ids),
    )


def partial_eta_squared(means: Numbers) -> Statistic:
    """Of temperature, evidence and interaction, and the first minus the second; evidence × temperatures × questions.

    SS(effect) / (SS(effect) + SS(effect × question)). With u the effects of one question (its means over the other
    factor, less its grand mean), SS(effect) is n |mean u|² and the denominator Σ |u|², each times the same number, so
    resampled questions need only their weights.
    """
    by_temperature = _centered(means.mean(axis=0))
    by_evidence = _centered(means.mean(axis=1))
    rest = means - means.mean(axis=0) - means.mean(axis=1)[:, None] + means.mean(axis=(0, 1))
    effects = [by_temperature, by_evidence, np.concatenate(rest)]

    def etas(drawn: Numbers) -> Numbers:
        temperature, evidence, interaction = (_eta(np.round(effect, ROUNDING), drawn) for effect in effects)
        return np.stack([temperature, evidence, interaction, temperature - evidence])

    return etas


def _centered(means: Numbers) -> Numbers:
    centered: Numbers = means - means.mean(axis=0)
    return centered


def _eta(effects: Numbers, drawn: Numbers) -> Numbers:
    """Of one effect (its levels × questions), for each draw; NaN where nothing varies."""
    explained = (mean_of(effects)(drawn) ** 2).sum(axis=0)
    whole = mean_of((effects**2).sum(axis=0, keepdims=True))(drawn)[0]
    eta: Numbers = np.divide(explained, whole, out=np.full_like(explained, np.nan), where=whole > 0)
    return eta


def _reason(estimate: Estimate) -> str | None:
    if estimate.value is not None:
        return "nothing varies in some resamples" if estimate.low is None and estimate.n > 1 else None
    return "nothing varies" if estimate.n else "no question has a score in every cell"
