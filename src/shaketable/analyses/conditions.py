"""What every analysis does first: repeats become questions, questions become conditions."""

from __future__ import annotations

import polars as pl

from shaketable.factors import FACTORS, Cell, System, measure_of

CONDITION = ("metric", *FACTORS)


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


def of_system(cell: Cell) -> list[pl.Expr]:
    """Whether a row of scores is of the system, dataset and wording of a cell."""
    system = cell.system or System(model="")
    places = {
        "dataset": cell.dataset,
        "model": system.model,
        "method": system.method,
        "retriever": system.retriever,
        "variation": cell.variation,
    }
    return [pl.col(name).eq_missing(pl.lit(value, dtype=pl.String)) for name, value in places.items()]


def units(table: pl.DataFrame) -> pl.DataFrame:
    """`metric` and `unit`, as the metric declares it; of others `share` where all values are 0 or 1, else `score`."""
    is_share = pl.col("value").drop_nulls().is_in([0.0, 1.0]).all()
    guessed = table.group_by("metric").agg(unit=pl.when(is_share).then(pl.lit("share")).otherwise(pl.lit("score")))
    declared = {name: unit for name in guessed["metric"] if (unit := measure_of(name).unit) is not None}
    return guessed.with_columns(unit=pl.col("metric").replace_strict(declared, default=pl.col("unit")))
