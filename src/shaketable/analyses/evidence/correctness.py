"""How good are the answers in each condition, and what do disturbed evidence and sampling temperature cost?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from shaketable.analyses.claims import Claim, Subject, weigh
from shaketable.analyses.conditions import (
    CONDITION,
    by_question,
    cells_of,
    pooled_and_by_type,
    units,
)
from shaketable.analyses.evidence.flagged import done_as_asked, flagged_in
from shaketable.analyses.rows import Scored
from shaketable.analyses.tables import Tables
from shaketable.factors import FACTORS, UNCHANGED, Cell
from shaketable.statistics.intervals import Numbers
from shaketable.statistics.sign_flips import sign_flip
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
                    subject=Subject(kind="heat", cell=heat.cell, metric=heat.metric), estimate=heat.drop, p=heat.p
                )
        temperatures = sorted({drop.cell.temperature or 0.0 for drop in self.evidence_drops})
        for drop in self.evidence_drops:
            place = temperatures.index(drop.cell.temperature or 0.0)
            is_spoken_of = drop.metric == self.metric and drop.cell.group is None and not drop.is_as_asked
            if is_spoken_of and place in (0, len(temperatures) - 1):
                yield Claim(
                    subject=Subject(kind="evidence", cell=drop.cell, metric=drop.metric),
                    estimate=drop.drop,
                    p=drop.p,
                    weight=weigh(place, len(temperatures)),
                )


def correctness(tables: Tables, *, metric: str | None = None, ddof: int = 1) -> Correctness:
    """Means over runs, then over questions, of every metric, pooled and by type of question."""
    questions = by_question(tables.scores, ddof=ddof)
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
            )
            for own in _estimated(_conditions(questions, ddof), tables)
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
            )
            for own in _estimated(_conditions(evidence, ddof), tables, tested=main, is_difference=True)
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
            )
            for own in _estimated(_conditions(heated, ddof), tables, tested=main, is_difference=True)
        ),
    )


def _evidence_drops(questions: pl.DataFrame, flagged: pl.DataFrame) -> pl.DataFrame:
    """Unchanged minus disturbed evidence, by question, at each temperature; of flagged perturbations also as asked."""
    disturbed = questions.filter(pl.col("perturbation") != UNCHANGED)
    original = questions.filter(pl.col("perturbation") == UNCHANGED)
    return pl.concat(
        _paired(original, own, but="perturbation").with_columns(is_as_asked=pl.lit(is_as_asked))
        for is_as_asked, own in ((False, disturbed), (True, done_as_asked(disturbed, flagged)))
    )


def _heat_drops(questions: pl.DataFrame) -> tuple[float, pl.DataFrame]:
    """The coolest temperature, and it minus the hottest, by question, for each evidence."""
    temperatures = sorted(questions["temperature"].unique())
    if len(temperatures) < 2:
        return 0.0, questions.clear()
    coolest, hottest = temperatures[0], temperatures[-1]
    cool, hot = questions.filter(temperature=coolest), questions.filter(temperature=hottest)
    return coolest, _paired(cool, hot, but="temperature")


def _paired(first: pl.DataFrame, second: pl.DataFrame, *, but: str) -> pl.DataFrame:
    """First minus second for questions that have both, in conditions that are the same but for one factor."""
    same = ["metric", "question_id", "type", *(factor for factor in FACTORS if factor != but)]
    return (
        second.join(first, on=same, nulls_equal=True, suffix="_first")
        .select(
            *CONDITION,
            "question_id",
            "type",
            mean=pl.col("mean_first") - pl.col("mean"),
            sd=pl.lit(None, dtype=pl.Float64),
            n_missing=pl.col("n_missing_first") + pl.col("n_missing"),
        )
        .sort(*CONDITION, "question_id")
    )


def _conditions(questions: pl.DataFrame, ddof: int) -> pl.DataFrame:
    if "is_as_asked" not in questions.columns:
        questions = questions.with_columns(is_as_asked=pl.lit(False))
    has_value = pl.col("mean").is_not_null()
    return (
        pooled_and_by_type(questions)
        .group_by(*CONDITION, "type", "is_as_asked", maintain_order=True)
        .agg(
            means=pl.col("mean").filter(has_value),
            question_ids=pl.col("question_id").filter(has_value),
            sd_runs=pl.col("sd").mean(),
            sd_questions=pl.col("mean").std(ddof=ddof),
            n_missing=pl.col("n_missing").sum(),
        )
        .sort(*CONDITION, "type", "is_as_asked")
    )


class _Estimated(NamedTuple):
    """One condition of question means, or of their differences."""

    cell: Cell
    mean: Estimate
    p: float | None
    metric: str
    is_as_asked: bool
    sd_runs: float | None
    sd_questions: float | None
    n_missing: int


def _estimated(
    conditions: pl.DataFrame, tables: Tables, *, tested: str | None = None, is_difference: bool = False
) -> Iterator[_Estimated]:
    """With the p of differences by the metric `tested`, of all types of question together."""
    ids, values = _matrix(conditions)
    unit_of = dict(units(tables.scores).iter_rows())
    metrics = [unit_of[name] for name in conditions["metric"]]
    estimates = tables.bootstrap.means(values, ids, unit=metrics, is_difference=is_difference)
    is_tested = ((conditions["metric"] == (tested or "")) & conditions["type"].is_null()).to_numpy()
    p_values: list[float | None] = [None] * len(estimates)
    for i, tested_p in zip(np.flatnonzero(is_tested), sign_flip(values[is_tested], ids), strict=True):
        p_values[i] = tested_p if estimates[i].n else None
    rest = conditions.select("metric", "is_as_asked", "sd_runs", "sd_questions", "n_missing").iter_rows()
    for cell, mean, p, columns in zip(cells_of(conditions), estimates, p_values, rest, strict=True):
        yield _Estimated(cell, mean if mean.n else replace(mean, reason="no scores"), p, *columns)


def _matrix(conditions: pl.DataFrame) -> tuple[Sequence[str], Numbers]:
    """All questions, and the means of conditions × questions, NaN where a condition has none."""
    listed = conditions.with_row_index("row").select("row", "means", "question_ids").explode("means", "question_ids")
    known = listed.drop_nulls()
    values = np.full((len(conditions), known["question_ids"].n_unique()), np.nan)
    column = known["question_ids"].rank("dense").to_numpy().astype(np.intp) - 1
    values[known["row"].to_numpy(), column] = known["means"].to_numpy()
    return known["question_ids"].unique().sort().to_list(), values
