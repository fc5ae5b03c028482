"""Does a system lean on its evidence? How much of what evidence brings is lost when it is disturbed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl

from shaketable.analyses.conditions import by_question, cells_of, units
from shaketable.analyses.rows import Scored
from shaketable.analyses.tables import Tables
from shaketable.factors import UNCHANGED
from shaketable.statistics.intervals import ROUNDING, Numbers, Statistic, mean_of
from shaketable.types import Estimate, Unit

SYSTEM = ("dataset", "model", "method", "retriever")
SIDES = ("original", "disturbed", "closed_book")
LEAST_GAIN = 0.05
"""What evidence is taken to bring at least, so that a ratio to almost nothing does not run away."""
CLIP = (-1.0, 2.0)
NO_CLOSED_BOOK = "was not asked with this model at this temperature; add it to the methods"
NO_QUESTION = "no question has a score with original evidence, with disturbed evidence and closed book"


@dataclass(frozen=True, kw_only=True, slots=True)
class Reliance(Scored):
    """What a disturbance takes, as a multiple of what evidence brings over closed book."""

    reliance: Estimate
    """Near 0 the disturbance is ignored, at 1 the system falls back to its closed-book answers, above 1 it is
    misled."""
    original: float | None
    """Mean score with original evidence; None: no question has all three."""
    disturbed: float | None
    closed_book: float | None
    unit: Unit
    """Of the three means."""
    is_floored: bool
    """Whether evidence brings less than it is taken to bring."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextReliance:
    """Does the system lean on its evidence, or on what it knows?"""

    reliances: tuple[Reliance, ...]
    """Of a system and a disturbance from cool to hot."""
    closed_book: str
    """How answers without evidence are named: a method, or a kind of evidence."""

    tells_of_evidence: ClassVar[bool] = True


def context_reliance(tables: Tables, *, metric: str | None = None, closed_book: str = "closed_book") -> ContextReliance:
    """(original − disturbed) / max(original − closed book, 0.05), clipped to −1 and 2, by disturbance and temperature.

    A question counts with the wordings that were asked in all three ways. `closed_book` names a method (of several with
    this name, the mean), or a kind of evidence in answers made elsewhere.
    """
    main = tables.metric(metric) or ""
    conditions = _conditions(tables.scores.filter(metric=main), closed_book)
    sides = [[np.array(values) for values in conditions[side]] for side in SIDES]
    estimates = tables.bootstrap.of_conditions(
        lambda places: _reliance(*(np.array([own[i] for i in places]) for own in sides)),
        conditions["question_ids"].to_list(),
        ["ratio"] * len(conditions),
    )
    unit = dict(units(tables.scores).iter_rows()).get(main, "score")
    counted = conditions.select("n_missing", "is_asked").iter_rows()
    reliances = []
    for cell, estimate, (n_missing, is_asked), *means in zip(
        cells_of(conditions), estimates, counted, *sides, strict=True
    ):
        original, disturbed, closed = (float(sum(own.tolist()) / len(own)) if len(own) else None for own in means)
        missing = NO_QUESTION if is_asked else f"{closed_book} {NO_CLOSED_BOOK}"
        reliances.append(
            Reliance(
                cell=cell,
                metric=main,
                reliance=estimate if estimate.n else replace(estimate, reason=missing),
                original=original,
                disturbed=disturbed,
                closed_book=closed,
                unit=unit,
                is_floored=original is not None and closed is not None and original - closed < LEAST_GAIN,
                n_missing=n_missing,
            )
        )
    return ContextReliance(reliances=tuple(reliances), closed_book=closed_book)


def _conditions(table: pl.DataFrame, closed_book: str) -> pl.DataFrame:
    """One row per system, disturbance and temperature: its questions, and the three means of each."""
    asked = by_question(table).select(
        *SYSTEM, "perturbation", "variation", "temperature", "question_id", "mean", "n_missing"
    )
    is_closed = _is(closed_book, "method") | _is(closed_book, "perturbation")
    alike = ("dataset", "model", "temperature", "variation", "question_id")
    closed = asked.filter(is_closed).group_by(alike).agg(pl.col("mean").mean(), pl.col("n_missing").sum())
    searched = asked.filter(~is_closed, pl.col("perturbation").is_not_null())
    original = searched.filter(perturbation=UNCHANGED).drop("perturbation")
    paired = (
        searched.filter(pl.col("perturbation") != UNCHANGED)
        .rename({"mean": "disturbed"})
        .join(original.rename({"mean": "original"}), on=[*SYSTEM, *alike[2:]], nulls_equal=True, suffix="_original")
        .join(closed.rename({"mean": "closed_book"}), on=alike, how="left", suffix="_closed")
        .with_columns(n_missing=pl.sum_horizontal("n_missing", "n_missing_original", "n_missing_closed"))
    )
    whole = pl.all_horizontal(pl.col(SIDES).is_not_null())
    nothing = pl.lit(None, dtype=pl.String)
    return (
        paired.group_by(*SYSTEM, "perturbation", "temperature", "question_id")
        .agg(
            pl.col(SIDES).filter(whole).sort().mean(),  # sums of floats depend on their order
            pl.col("n_missing").sum(),
            is_asked=pl.col("n_missing_closed").is_not_null().any(),
        )
        .sort("question_id")
        .group_by(*SYSTEM, "perturbation", "temperature", maintain_order=True)
        .agg(
            pl.col("question_id", *SIDES).filter(pl.col("original").is_not_null()),
            pl.col("n_missing").sum().cast(pl.Int64),
            pl.col("is_asked").any(),
        )
        .rename({"question_id": "question_ids"})
        .with_columns(variation=nothing, type=nothing)
        .sort(*SYSTEM, "perturbation", "temperature")
    )


def _is(name: str, column: str) -> pl.Expr:
    """Whether a part has this name, whatever its settings; or this very label."""
    label = pl.col(column).fill_null("")
    return (label == name) | (label.str.replace(r"\(.*", "") == name)


def _reliance(original: Numbers, disturbed: Numbers, closed: Numbers) -> Statistic:
    """Of conditions × questions."""

    def ratio(drawn: Numbers) -> Numbers:
        lost, gained = (
            np.round(mean_of(original)(drawn) - mean_of(other)(drawn), ROUNDING) for other in (disturbed, closed)
        )
        clipped: Numbers = np.clip(lost / np.maximum(gained, LEAST_GAIN), *CLIP)
        return clipped

    return ratio
