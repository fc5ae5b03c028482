"""Two systems laid beside each other: the same question under the same condition, and what has no partner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

from shaketable.analyses.conditions import by_question, fill_failed
from shaketable.factors import FACTORS, UNCHANGED, System

CONDITION = ("dataset", "variation", "perturbation", "temperature")
"""What must be the same on both sides; runs of a question under it are averaged."""
PAIR = (*CONDITION, "question_id")
PAIRED = ("metric", *FACTORS, "question_id", "type", "repeat", "value", "is_left_out")
"""What is read of scores that are paired."""
TEXTS = pl.col(pl.Categorical).cast(pl.String)
"""Of rows that are few: texts again where numbers stood for them."""
Side = Literal["first", "second"]
SIDES: tuple[Side, Side] = ("first", "second")
Why = Literal["question", "condition", "not asked", "no score", "left out", "text"]
"""The other side has no such question; no such condition; has both, but not together, as runs that were interrupted do;
the one side was asked and has no score; the study leaves all its records out, whose evidence could not be changed as
asked; or a question of the same id is another one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Unpaired:
    """Questions under conditions that could not be compared."""

    why: Why
    side: Side
    """Where there is a question or condition that the other has not; where there is no score, or nothing was asked."""
    n: int
    """A question under a condition counts once, however often it was asked."""
    n_questions: int


def systems_in(scores: pl.DataFrame) -> list[System]:
    """Those that a score table has, as they come first in it."""
    rows = scores.select("model", "method", "retriever").unique(maintain_order=True).iter_rows()
    return [System(model=model, method=method, retriever=retriever) for model, method, retriever in rows]


def is_of(system: System) -> list[pl.Expr]:
    """Whether a row of scores or records is of a system."""
    parts = {"model": system.model, "method": system.method, "retriever": system.retriever}
    return [pl.col(name).eq_missing(pl.lit(value, dtype=pl.String)) for name, value in parts.items()]


def pair(first: pl.DataFrame, second: pl.DataFrame, metric: str) -> pl.DataFrame:
    """One row per question and condition that either side was asked, of one number, each side with its columns.

    `first`: the mean over runs, None without a score. `first_even`: the same of as many runs as the other side has.
    `first_least` and `first_greatest`: had the runs that failed scored as badly, or as well, as can be. `first_runs`
    and `first_failed`: how many have a score, and how many might have one; None: nothing was asked. `first_is_out`:
    whether the study leaves all of them out.
    """
    tables = [table.filter(metric=metric) for table in name_evidence_alike(first, second)]
    is_out = (pl.col("n_runs") == 0) & (pl.col("n_failed") == 0) & (pl.col("n_missing") > 0)
    questions = [by_question(table).with_columns(side=pl.lit(i), is_out=is_out) for i, table in enumerate(tables)]
    filled = fill_failed(pl.concat(questions), pl.concat(tables, how="diagonal"))
    first_rows, second_rows = (
        filled.filter(side=i)
        .join(_values(table), on=PAIR, how="left", nulls_equal=True)
        .select(
            *PAIR,
            pl.col("type").alias(f"{side}_type"),
            pl.col("mean").alias(side),
            pl.col("values").alias(f"{side}_values"),
            pl.col("least").alias(f"{side}_least"),
            pl.col("greatest").alias(f"{side}_greatest"),
            pl.col("n_runs").alias(f"{side}_runs"),
            pl.col("n_failed").alias(f"{side}_failed"),
            pl.col("is_out").alias(f"{side}_is_out"),
        )
        for i, (side, table) in enumerate(zip(SIDES, tables, strict=True))
    )
    n_even = pl.min_horizontal("first_runs", "second_runs")
    return (
        first_rows.join(second_rows, on=PAIR, how="full", coalesce=True, nulls_equal=True)
        .with_columns(
            *(pl.col(f"{side}_values").list.head(n_even).list.mean().alias(f"{side}_even") for side in SIDES),
            type=pl.coalesce("first_type", "second_type"),
        )
        .drop("first_type", "second_type", "first_values", "second_values")
        .sort(*PAIR)
    )


def count_unpaired(paired: pl.DataFrame) -> tuple[Unpaired, ...]:
    """What has no difference, by side and reason; what has no score on either side counts on both."""
    rows = []
    for side, other in (SIDES, SIDES[::-1]):
        own, others = (pl.col(f"{name}_runs").is_not_null() for name in (side, other))
        has_question, has_condition = others.any().over("dataset", "question_id"), others.any().over(CONDITION)
        is_missing = others & ~own & own.any().over("dataset", "question_id") & own.any().over(CONDITION)
        why = (
            pl.when(own & others & pl.col(f"{side}_is_out"))
            .then(pl.lit("left out"))
            .when(own & others & pl.col(side).is_null())
            .then(pl.lit("no score"))
            .when(own & ~has_question)
            .then(pl.lit("question"))
            .when(own & ~has_condition)
            .then(pl.lit("condition"))
            .when(is_missing)
            .then(pl.lit("not asked"))
        )
        rows.append(paired.select("dataset", "question_id", why=why, side=pl.lit(side)))
    counted = (
        pl.concat(rows)
        .drop_nulls("why")
        .group_by("why", "side")
        .agg(n=pl.len(), n_questions=pl.struct("dataset", "question_id").n_unique())
        .sort("why", "side")
    )
    return tuple(Unpaired(**row) for row in counted.iter_rows(named=True))


def name_evidence_alike(first: pl.DataFrame, second: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A method that does not search has undisturbed evidence, where the other one has evidence."""
    name = pl.col("perturbation").cast(pl.String)
    has_evidence = any(own["perturbation"].count() for own in (first, second))
    alike = name.fill_null(UNCHANGED) if has_evidence else name
    return first.with_columns(perturbation=alike), second.with_columns(perturbation=alike)


def _values(table: pl.DataFrame) -> pl.DataFrame:
    """The scores of the runs of a question under a condition, in their order."""
    runs = table.select(*PAIR, "repeat", "value").sort("repeat").group_by(PAIR)
    return runs.agg(values=pl.col("value").drop_nulls()).with_columns(TEXTS)
