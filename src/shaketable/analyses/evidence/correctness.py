"""How good are the answers in each condition, and what do disturbed evidence and sampling temperature cost?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from shaketable.analyses.claims import Claim, Subject, weigh_temperatures
from shaketable.analyses.conditions import by_question, fill_failed
from shaketable.analyses.evidence.condition_means import estimate, group, pair
from shaketable.analyses.evidence.flagged import done_as_asked, flagged_in
from shaketable.analyses.rows import Scored
from shaketable.analyses.tables import Tables
from shaketable.factors import UNCHANGED
from shaketable.types import Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class Level(Scored):
    """How good the answers of one condition are."""

    mean: Estimate
    """Over runs, then over questions."""
    sd_runs: float | None
    """Standard deviation between the runs of a question, averaged; None: single runs."""
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


def correctness(tables: Tables, *, metric: str | None = None, ddof: int = 1) -> Correctness:
    """Means over runs, then over questions, of every metric, pooled and by type of question."""
    questions = fill_failed(by_question(tables.scores, ddof=ddof), tables.scores)
    coolest, heated = _heat_drops(questions)
    evidence = _evidence_drops(questions, flagged_in(tables.scores))
    main = tables.metric(metric)
    return Correctness(
        metric=main,
        levels=tuple(
            Level(
                cell=own.cell,
                metric=own.metric,
                mean=own.mean,
                sd_runs=own.sd_runs,
                sd_questions=own.sd_questions,
                n_missing=own.n_missing,
                worst_low=own.worst_low,
                worst_high=own.worst_high,
            )
            for own in estimate(group(questions, ddof), tables)
        ),
        evidence_drops=tuple(
            EvidenceDrop(
                cell=own.cell,
                metric=own.metric,
                drop=own.mean,
                p=own.p,
                is_as_asked=own.is_as_asked,
                sd_questions=own.sd_questions,
                n_missing=own.n_missing,
                worst_low=own.worst_low,
                worst_high=own.worst_high,
            )
            for own in estimate(group(evidence, ddof), tables, tested=main, is_difference=True)
        ),
        heat_drops=tuple(
            HeatDrop(
                cell=own.cell,
                metric=own.metric,
                coolest=coolest,
                drop=own.mean,
                p=own.p,
                sd_questions=own.sd_questions,
                n_missing=own.n_missing,
                worst_low=own.worst_low,
                worst_high=own.worst_high,
            )
            for own in estimate(group(heated, ddof), tables, tested=main, is_difference=True)
        ),
    )


def _evidence_drops(questions: pl.DataFrame, flagged: pl.DataFrame) -> pl.DataFrame:
    """Unchanged minus disturbed evidence, by question, at each temperature; of flagged perturbations also as asked."""
    disturbed = questions.filter(pl.col("perturbation") != UNCHANGED)
    original = questions.filter(pl.col("perturbation") == UNCHANGED)
    return pl.concat(
        pair(original, own, but="perturbation").with_columns(is_as_asked=pl.lit(is_as_asked))
        for is_as_asked, own in ((False, disturbed), (True, done_as_asked(disturbed, flagged)))
    )


def _heat_drops(questions: pl.DataFrame) -> tuple[float, pl.DataFrame]:
    """The coolest temperature, and it minus the hottest, by question, for each evidence."""
    temperatures = sorted(questions["temperature"].unique())
    if len(temperatures) < 2:
        return 0.0, questions.clear()
    coolest, hottest = temperatures[0], temperatures[-1]
    cool, hot = questions.filter(temperature=coolest), questions.filter(temperature=hottest)
    return coolest, pair(cool, hot, but="temperature")
