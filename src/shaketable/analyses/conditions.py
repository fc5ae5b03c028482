"""What every analysis does first: repeats become questions, questions become conditions."""

from __future__ import annotations

from typing import Any

import polars as pl
from polars import selectors

from shaketable.factors import Cell, System, measure_of

FACTORS = ("dataset", "model", "method", "retriever", "perturbation", "variation", "temperature")
CONDITION = ("metric", *FACTORS)
ORIGINAL = "unchanged"
"""The perturbation that leaves the evidence as it was found."""


def by_question(table: pl.DataFrame, *, ddof: int = 1) -> pl.DataFrame:
    """One row per condition and question: `mean` and `sd` over its runs, `n_runs`, `n_missing`.

    Records without a value are left out and counted. One run has no sd, whatever the ddof.
    """
    value = pl.col("value")
    return (
        table.sort("question_id", "repeat")  # sums of floats depend on their order
        .group_by(*CONDITION, "question_id", "type")
        .agg(
            mean=value.mean(),
            sd=pl.when(value.count() > 1).then(value.std(ddof=ddof)),
            n_runs=value.count().cast(pl.Int64),
            n_missing=value.null_count().cast(pl.Int64),
        )
        .sort(*CONDITION, "question_id")
    )


def pooled_and_by_type(questions: pl.DataFrame) -> pl.DataFrame:
    """Every row once with type None (all types pooled), and once under its own type."""
    pooled = questions.with_columns(type=pl.lit(None, dtype=pl.String))
    return pl.concat([pooled, questions.filter(pl.col("type").is_not_null())])


def cells_of(conditions: pl.DataFrame) -> list[Cell]:
    """Where each row of a table of conditions belongs."""
    columns = ("dataset", "model", "method", "retriever", "variation", "perturbation", "temperature", "type")
    return [
        Cell(
            dataset=dataset,
            system=System(model=model, method=method, retriever=retriever),
            variation=variation,
            perturbation=perturbation,
            temperature=temperature,
            group=group,
        )
        for dataset, model, method, retriever, variation, perturbation, temperature, group in conditions.select(
            columns
        ).iter_rows()
    ]


def labelled_rows(analysis: str, cells: pl.DataFrame, table: pl.DataFrame) -> list[dict[str, Any]]:
    """Conditions as rows in a fixed order, with `analysis`, `system` and `unit`."""
    return (
        cells.join(units(table), on="metric")
        .with_columns(analysis=pl.lit(analysis), system=system_of(table))
        .select("analysis", "system", *CONDITION, "type", pl.exclude("analysis", "system", *CONDITION, "type"))
        .drop(selectors.list())
        .sort(*CONDITION, "type", "contrast")
        .to_dicts()
    )


def system_of(table: pl.DataFrame) -> pl.Expr:
    """The model, and whatever else of the pipeline differs within this table: `smollm2 · closed_book`."""
    others = ("dataset", "method", "retriever", "variation")
    varying = [factor for factor in others if table[factor].drop_nulls().n_unique() > 1]
    return pl.concat_str("model", *varying, separator=" · ", ignore_nulls=True)


def names_in(table: pl.DataFrame) -> list[str]:
    """The scored numbers, in the order of the study's metrics."""
    return list(table["metric"].unique(maintain_order=True))


def units(table: pl.DataFrame) -> pl.DataFrame:
    """`metric` and `unit`, as the metric declares it; of others `share` where all values are 0 or 1, else `score`."""
    is_share = pl.col("value").drop_nulls().is_in([0.0, 1.0]).all()
    guessed = table.group_by("metric").agg(unit=pl.when(is_share).then(pl.lit("share")).otherwise(pl.lit("score")))
    declared = {name: unit for name in guessed["metric"] if (unit := measure_of(name).unit) is not None}
    return guessed.with_columns(unit=pl.col("metric").replace_strict(declared, default=pl.col("unit")))
