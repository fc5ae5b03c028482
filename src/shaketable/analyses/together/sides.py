"""Questions asked in three ways: with original evidence, with disturbed evidence, and without any."""

from __future__ import annotations

import polars as pl

from shaketable.analyses.conditions import by_question
from shaketable.factors import UNCHANGED

SYSTEM = ("dataset", "model", "method", "retriever")
SIDES = ("original", "disturbed", "closed_book")


def pair_sides(table: pl.DataFrame, closed_book: str) -> pl.DataFrame:
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
    has_questions = pl.col("question_ids").list.len() > 0
    coolest = pl.when(has_questions).then(pl.col("temperature")).min().over(SYSTEM)
    is_coolest = has_questions & (pl.col("temperature") == coolest)
    whole = pl.all_horizontal(pl.col(SIDES).is_not_null())
    return (
        paired.group_by(*SYSTEM, "perturbation", "temperature", "question_id")
        .agg(
            pl.col(SIDES).filter(whole).sort().mean(),  # sums of floats depend on their order
            pl.col("n_missing").sum(),
            _the_only_one("variation"),
            is_asked=pl.col("n_missing_closed").is_not_null().any(),
        )
        .sort("question_id")
        .group_by(*SYSTEM, "perturbation", "temperature", maintain_order=True)
        .agg(
            pl.col("question_id", *SIDES).filter(pl.col("original").is_not_null()),
            pl.col("n_missing").sum().cast(pl.Int64),
            pl.col("is_asked").any(),
            _the_only_one("variation"),
        )
        .rename({"question_id": "question_ids"})
        .with_columns(type=pl.lit(None, dtype=pl.String), is_coolest=is_coolest)
        .sort(*SYSTEM, "perturbation", "temperature")
    )


def _the_only_one(column: str) -> pl.Expr:
    """None of several."""
    return pl.when(pl.col(column).n_unique() == 1).then(pl.col(column).first()).alias(column)


def _is(name: str, column: str) -> pl.Expr:
    """Whether a part has this name, whatever its settings; or this very label."""
    label = pl.col(column).fill_null("")
    return (label == name) | (label.str.replace(r"\(.*", "") == name)
