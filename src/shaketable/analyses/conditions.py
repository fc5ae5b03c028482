"""What every analysis does first: repeats become questions, questions become conditions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import polars as pl
import polars.selectors as cs

from shaketable.factors import FACTORS, Cell, System, measure_of
from shaketable.statistics.worst_case import MOST_FAILED
from shaketable.types import Unit

End = Literal["least", "greatest"]
ENDS: tuple[End, ...] = ("least", "greatest")
CONDITION = ("metric", *FACTORS)


def by_question(table: pl.DataFrame, *, ddof: int = 1) -> pl.DataFrame:
    """One row per condition and question: `mean` and `sd` over its runs, `n_runs`, `n_missing`, `n_failed`.

    Records without a value are left out and counted; those that the study leaves out did not fail. One run has no sd,
    whatever the ddof.
    """
    value, by = pl.col("value"), (*CONDITION, "question_id", "type")
    numbers, texts = _numbering(table, by)
    return (
        table.select(*by, "repeat", "value", is_failed=value.is_null() & ~_is_left_out(table))
        .with_columns(numbers)
        .sort("repeat", maintain_order=True)  # Sums of floats depend on their order.
        .group_by(by)
        .agg(
            mean=value.mean(),
            sd=pl.when(value.count() > 1).then(value.std(ddof=ddof)),
            n_runs=value.count().cast(pl.Int64),
            n_missing=value.null_count().cast(pl.Int64),
            n_failed=pl.col("is_failed").sum().cast(pl.Int64),
        )
        .with_columns(texts)
        .sort(*CONDITION, "question_id")
    )


def by_condition(questions: pl.DataFrame, *aggregates: pl.Expr, by: tuple[str, ...] = ()) -> pl.DataFrame:
    """One row per condition, pooled and by type of question, in order; `by`: what tells conditions apart besides."""
    by = (*CONDITION, "type", *by)
    numbers, texts = _numbering(questions, by)
    return (
        pooled_and_by_type(questions.with_columns(numbers))
        .group_by(by, maintain_order=True)
        .agg(*aggregates)
        .with_columns(texts)
        .sort(by)
    )


def number_texts(table: pl.DataFrame) -> pl.DataFrame:
    """The same with numbers for the texts that many rows share, as two large runs that are held at once need them."""
    return table.with_columns((cs.string() - cs.by_name("key", "metric", require_all=False)).cast(pl.Categorical))


def _numbering(table: pl.DataFrame, names: Iterable[str]) -> tuple[pl.Expr, pl.Expr]:
    """Texts by which rows are grouped → their numbers, which need a quarter of the memory; and back."""
    texts = pl.col([name for name in names if table.schema[name] in (pl.String, pl.Categorical)])
    return texts.cast(pl.Categorical), texts.cast(pl.String)


def fill_failed(questions: pl.DataFrame, table: pl.DataFrame) -> pl.DataFrame:
    """`least` and `greatest`: the mean, had the runs that failed scored as badly or as well as can be.

    Questions that the metric scores nowhere, such as those without an accepted answer, did not fail.
    """
    is_scored = pl.col("n_runs").sum().over("metric", "dataset", "question_id") > 0
    known, failed = pl.col("n_runs"), pl.col("n_failed")
    ended = questions.with_columns(n_failed=pl.when(is_scored).then(failed).otherwise(0)).join(
        scales(table), on="metric", how="left", maintain_order="left"
    )
    total = pl.col("mean").fill_null(0) * known
    return ended.with_columns(
        pl.when(failed > 0).then((total + pl.col(end) * failed) / (known + failed)).otherwise("mean").alias(end)
        for end in ENDS
    )


def fill_scores(table: pl.DataFrame, end: End) -> pl.DataFrame:
    """The same, had the records that failed scored as badly or as well as can be; see `fill_failed`."""
    is_scored = pl.col("value").count().over("metric", "dataset", "question_id") > 0
    ends = scales(table).select("metric", end=end)
    filled = pl.when(is_scored & ~_is_left_out(table)).then(pl.coalesce("value", "end")).otherwise("value")
    return table.join(ends, on="metric", how="left", maintain_order="left").with_columns(value=filled).drop("end")


def is_uncertain_anywhere(table: pl.DataFrame) -> bool:
    """Whether more of the records of some condition failed than may be left out without a word."""
    failed = table.group_by(CONDITION).agg(share=(pl.col("value").is_null() & ~_is_left_out(table)).mean())
    return bool((failed["share"] > MOST_FAILED).any())


def scales(table: pl.DataFrame) -> pl.DataFrame:
    """`metric`, and the `least` and `greatest` value there is; where the scale has no end, that was seen."""
    seen = table.group_by("metric").agg(least=pl.col("value").min(), greatest=pl.col("value").max())
    unit_of = dict(units(table).iter_rows())
    ends = []
    for metric, least, greatest in seen.iter_rows():
        measure = measure_of(metric)
        low, high = (0.0, 1.0) if unit_of[metric] == "share" else (measure.minimum, measure.maximum)
        ends.append((metric, least if low is None else low, greatest if high is None else high))
    return pl.DataFrame(ends, schema={"metric": pl.String, "least": pl.Float64, "greatest": pl.Float64}, orient="row")


def pooled_and_by_type(questions: pl.DataFrame) -> pl.DataFrame:
    """Every row once with type None (all types pooled), and once under its own type."""
    pooled = questions.with_columns(type=pl.lit(None, dtype=questions.schema["type"]))
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


def units_of(tables: Iterable[pl.DataFrame]) -> dict[str, Unit]:
    """Metric → unit, of tables with the scores of one number each."""
    return {metric: unit for table in tables for metric, unit in units(table).iter_rows()}


def _is_left_out(table: pl.DataFrame) -> pl.Expr:
    """Whether the study leaves a record out, which did not fail then; none in tables made without flags."""
    return pl.col("is_left_out") if "is_left_out" in table.columns else pl.lit(False)
