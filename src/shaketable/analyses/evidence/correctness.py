"""How good are the answers in each condition, and what do disturbed evidence and sampling temperature cost?"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal, TypedDict

import polars as pl

from shaketable.analyses.claims import Claim, Subject, weigh_temperatures
from shaketable.analyses.conditions import by_question, fill_failed
from shaketable.analyses.evidence.condition_means import Estimated, estimate, group, pair
from shaketable.analyses.evidence.flagged import done_as_asked, flagged_in, mixed_perturbations
from shaketable.analyses.rows import Scored
from shaketable.analyses.tables import Tables
from shaketable.factors import UNCHANGED, Cell
from shaketable.types import Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class Level(Scored):
    """How good the answers of one condition are."""

    mean: Estimate
    """Over runs, then over questions."""
    sd_runs: float | None
    """Standard deviation between the runs of a question, averaged; None: single runs."""
    variance_runs: float | None
    """Variance between the runs of a question, averaged; None: single runs."""
    sd_questions: float | None
    """Standard deviation between questions; None: a single question."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceDrop(Scored):
    """Unchanged minus disturbed evidence, paired by question."""

    drop: Estimate
    """Positive: worse when disturbed."""
    p: float | None
    """That it is not 0, by signs flipped; None: not of the number that is spoken of, or of one type of question."""
    is_as_asked: bool
    """Without the questions whose evidence carries a flag; there only where some carry one."""
    sd_questions: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class HeatDrop(Scored):
    """The coolest temperature of all minus the hottest, paired by question. Its temperature is the hottest."""

    coolest: float
    drop: Estimate
    """Positive: worse when hot."""
    p: float | None
    """As that of disturbed evidence."""
    sd_questions: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Correctness:
    """How good are the answers, and what do disturbed evidence and temperature cost?"""

    metric: str | None
    """The number that is spoken of; None: nothing was scored."""
    levels: tuple[Level, ...]
    evidence_drops: tuple[EvidenceDrop, ...]
    heat_drops: tuple[HeatDrop, ...]
    band: Literal["interval", "sd"] = "interval"
    """What figures shade around a mean: its interval, or ± the standard deviation between runs."""

    def claims(self) -> Iterable[Claim]:
        """What heat costs with undisturbed evidence, and what disturbances cost when coolest and hottest."""
        for heat in self.heat_drops:
            if heat.metric == self.metric and heat.cell.group is None and heat.cell.is_undisturbed:
                yield Claim(
                    subject=Subject(kind="heat", cell=heat.cell, metric=heat.metric),
                    estimate=heat.drop,
                    p=heat.p,
                    reason=heat.reason,
                )
        weights = weigh_temperatures(drop.cell for drop in self.evidence_drops)
        for drop in self.evidence_drops:
            temperature = drop.cell.temperature or 0.0
            is_spoken_of = drop.metric == self.metric and drop.cell.group is None and not drop.is_as_asked
            if is_spoken_of and temperature in (min(weights), max(weights)):
                yield Claim(
                    subject=Subject(kind="evidence", cell=drop.cell, metric=drop.metric),
                    estimate=drop.drop,
                    p=drop.p,
                    reason=drop.reason,
                    weight=weights[temperature],
                )


def correctness(
    tables: Tables, *, metric: str | None = None, ddof: int = 1, band: Literal["interval", "sd"] = "interval"
) -> Correctness:
    """Means over runs, then over questions, of every metric, pooled and by type of question.

    `band`: what figures shade around a mean: its interval, or ± the standard deviation between runs, as in the study.
    """
    main, mixed, ends = tables.metric(metric), mixed_perturbations(tables), _ends(tables)
    # One number at a time, and nothing of it is held when the next is read: of a large run they do not fit together.
    every = [_of_metric(tables, name, main, mixed, ends, ddof) for name in sorted(tables.metrics)]
    return Correctness(
        metric=main,
        band=band,
        levels=tuple(level for levels, _, _ in every for level in levels),
        evidence_drops=tuple(drop for _, drops, _ in every for drop in drops),
        heat_drops=tuple(drop for _, _, drops in every for drop in drops),
    )


def _of_metric(
    tables: Tables, name: str, main: str | None, mixed: Collection[str], ends: tuple[float, float], ddof: int
) -> tuple[list[Level], list[EvidenceDrop], list[HeatDrop]]:
    scores = tables.of_metric(name)
    questions = fill_failed(by_question(scores, ddof=ddof), scores)
    flagged = flagged_in(scores)
    del scores
    levels = [
        Level(mean=own.mean, sd_runs=own.sd_runs, variance_runs=own.variance_runs, **_scored(own))
        for own in estimate(group(questions, ddof), tables)
    ]
    evidence_drops = [
        EvidenceDrop(drop=own.mean, p=own.p, is_as_asked=own.is_as_asked, **_scored(own))
        for own in estimate(
            group(_evidence_drops(questions, flagged, mixed), ddof), tables, tested=main, is_difference=True
        )
    ]
    heat_drops = [
        HeatDrop(coolest=ends[0], drop=own.mean, p=own.p, **_scored(own))
        for own in estimate(group(_heat_drops(questions, ends), ddof), tables, tested=main, is_difference=True)
    ]
    return levels, evidence_drops, heat_drops


class _Scored(TypedDict):
    """What all rows have."""

    cell: Cell
    metric: str
    sd_questions: float | None
    n_missing: int
    worst_low: float | None
    worst_high: float | None


def _scored(own: Estimated) -> _Scored:
    return {
        "cell": own.cell,
        "metric": own.metric,
        "sd_questions": own.sd_questions,
        "n_missing": own.n_missing,
        "worst_low": own.worst_low,
        "worst_high": own.worst_high,
    }


def _evidence_drops(questions: pl.DataFrame, flagged: pl.DataFrame, mixed: Collection[str]) -> pl.DataFrame:
    """Unchanged minus disturbed evidence, by question, at each temperature; of flagged perturbations also as asked."""
    disturbed = questions.filter(pl.col("perturbation") != UNCHANGED)
    original = questions.filter(pl.col("perturbation") == UNCHANGED)
    return pl.concat(
        pair(original, own, but="perturbation").with_columns(is_as_asked=pl.lit(is_as_asked))
        for is_as_asked, own in ((False, disturbed), (True, done_as_asked(disturbed, flagged, mixed)))
    )


def _ends(tables: Tables) -> tuple[float, float]:
    """The coolest and the hottest temperature of all."""
    scores = map(tables.of_metric, tables.metrics)
    temperatures = {temperature for own in scores for temperature in own["temperature"].unique()}
    return min(temperatures, default=0.0), max(temperatures, default=0.0)


def _heat_drops(questions: pl.DataFrame, ends: tuple[float, float]) -> pl.DataFrame:
    """The coolest temperature minus the hottest, by question, for each evidence."""
    coolest, hottest = ends
    if coolest == hottest:
        return questions.clear()
    cool, hot = questions.filter(temperature=coolest), questions.filter(temperature=hottest)
    return pair(cool, hot, but="temperature")
