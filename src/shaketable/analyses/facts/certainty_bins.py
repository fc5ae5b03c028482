"""How certain is a model of the answers it samples, and is it right when it is certain?"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from shaketable.analyses.facts.fact_table import CONDITION, judges, read_facts
from shaketable.analyses.facts.facts import Facts
from shaketable.analyses.facts.reading import settle_scan
from shaketable.analyses.rows import Located
from shaketable.analyses.tables import Tables
from shaketable.factors import Cell
from shaketable.facts.score import TOLERANCE
from shaketable.statistics.intervals import Bootstrap, Numbers, mean_of
from shaketable.types import Estimate

N_BINS = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class CertaintyBin(Located):
    """The share of all answers at a temperature that are this certain and right, or this certain and wrong."""

    start: float
    """Bins are [0, 0.1) … [0.9, 1]."""
    is_correct: bool
    share: Estimate
    n_answers: int
    """At this temperature, in all bins."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MeanCertainty(Located):
    certainty: Estimate
    n_answers: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SureAndWrong(Located):
    """Of the answers in the highest bin, the share that is wrong."""

    share: Estimate
    n_answers: int
    """At this temperature, in all bins."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CertaintyBins:
    """How certain is a model of the answers it samples, and is it right when it is certain?"""

    bins: tuple[CertaintyBin, ...]
    """Those of a system, dataset and temperature add up to 1; temperatures from cool to hot."""
    certainties: tuple[MeanCertainty, ...]
    sure_and_wrong: tuple[SureAndWrong, ...]
    known: str | None
    """Empty: of all questions, not of the known facts alone."""
    correct: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Counted(Located):
    """The answers of one system and dataset at one temperature, by question."""

    shares: Numbers
    """2 × N_BINS rows, wrong answers before correct ones, and a last one of mean certainties; × questions."""
    question_ids: tuple[str, ...]
    n_answers: int


def certainty_bins(tables: Tables, *, known: str | None = None, correct: str | None = None) -> CertaintyBins:
    """The share of answers in each tenth of certainty, correct and wrong ones apart, at each temperature.

    Certainty is the metric of this name, the mean probability of an answer's tokens. `known` of '' takes all questions,
    not the known facts alone.
    """
    scan = settle_scan(tables.scan, known=known, correct=correct)
    every = read_facts(tables, scan)
    answers = _answers(tables.scores, judges(scan)[1])
    counted = [at for facts in every for at in _counted(facts, answers, takes_all=not scan.known)]
    return CertaintyBins(
        bins=tuple(bin for at in counted for bin in _bins(at, tables.bootstrap)),
        certainties=tuple(_mean_certainty(at, tables.bootstrap) for at in counted),
        sure_and_wrong=tuple(_sure_and_wrong(at, tables.bootstrap) for at in counted),
        known=scan.known,
        correct=scan.correct,
    )


def bin_of(certainty: float) -> int:
    """0.8 computed as 0.79999… belongs to [0.8, 0.9)."""
    return min(int((certainty + TOLERANCE) * N_BINS), N_BINS - 1)


def _answers(table: pl.DataFrame, correct: str) -> pl.DataFrame:
    """One row per answer that has both numbers: condition, question, temperature, certainty, is_correct."""
    certainty = table.filter((pl.col("metric") == "certainty") & pl.col("value").is_not_null())
    judged = table.filter((pl.col("metric") == correct) & pl.col("value").is_not_null())
    return (
        certainty.rename({"value": "certainty"})
        .join(judged.select("key", is_correct=pl.col("value") == 1), on="key")
        .select(*CONDITION, "question_id", "temperature", "repeat", "certainty", "is_correct")
        .sort(*CONDITION, "temperature", "question_id", "repeat")
    )


def _counted(facts: Facts, answers: pl.DataFrame, *, takes_all: bool) -> list[Counted]:
    chosen = [fact.question_id for fact in (facts.asked if takes_all else facts.known)]
    here = answers.filter(_is_of(facts.cell), pl.col("question_id").is_in(chosen))
    counted = []
    for (temperature,), at in here.group_by("temperature", maintain_order=True):
        columns = {id: i for i, id in enumerate(sorted(at["question_id"].unique()))}
        counts = np.zeros((2 * N_BINS + 1, len(columns)))
        for question_id, certainty, is_correct in at.select("question_id", "certainty", "is_correct").iter_rows():
            counts[bin_of(certainty) + N_BINS * is_correct, columns[question_id]] += 1
            counts[-1, columns[question_id]] += certainty
        counted.append(
            Counted(
                cell=replace(facts.cell, temperature=float(str(temperature))),
                shares=counts / counts[:-1].sum(axis=0),
                question_ids=tuple(columns),
                n_answers=len(at),
            )
        )
    return counted


def _is_of(cell: Cell) -> pl.Expr:
    assert cell.system is not None
    system = cell.system
    values = (system.model, system.method, system.retriever, cell.perturbation, cell.variation, cell.dataset)
    return pl.all_horizontal(
        pl.col(name).eq_missing(pl.lit(value, dtype=pl.String)) for name, value in zip(CONDITION, values, strict=True)
    )


def _bins(at: Counted, bootstrap: Bootstrap) -> list[CertaintyBin]:
    return [
        CertaintyBin(
            cell=at.cell,
            start=i % N_BINS / N_BINS,
            is_correct=i >= N_BINS,
            share=replace(estimate, unit="share"),
            n_answers=at.n_answers,
        )
        for i, estimate in enumerate(bootstrap.means(at.shares[:-1], at.question_ids))
    ]


def _mean_certainty(at: Counted, bootstrap: Bootstrap) -> MeanCertainty:
    (certainty,) = bootstrap.means(at.shares[-1:], at.question_ids)
    return MeanCertainty(cell=at.cell, certainty=certainty, n_answers=at.n_answers)


def _sure_and_wrong(at: Counted, bootstrap: Bootstrap) -> SureAndWrong:
    top = mean_of(at.shares[[N_BINS - 1, 2 * N_BINS - 1]])

    def wrong_share(drawn: Numbers) -> Numbers:
        """NaN where the bin is empty."""
        wrong, right = top(drawn)
        total = wrong + right
        ratio: Numbers = np.divide(wrong, total, out=np.full_like(total, np.nan), where=total > 0)
        return ratio[None]

    (share,) = bootstrap.statistics(wrong_share, at.question_ids, 1, unit="share")
    reason = "no answer is that certain" if share.value is None else None
    return SureAndWrong(cell=at.cell, share=replace(share, reason=reason), n_answers=at.n_answers)
