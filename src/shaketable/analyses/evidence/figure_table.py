"""The tidy table behind the figures of a context × temperature study."""

from __future__ import annotations

import polars as pl

from shaketable.analyses.conditions import CONDITION, by_question, cells_of, pooled_and_by_type
from shaketable.analyses.spread import Level, coefficient_of_variation, crossing_zero
from shaketable.factors import UNCHANGED, Labels

COLUMNS = (
    "model",
    "qtype",
    "context",
    "T",
    "n",
    "mean",
    "variance_runs",
    "sd_runs",
    "sd_questions",
    "cv",
    "baseline_cv",
)


def figure_table(
    table: pl.DataFrame,
    metric: str,
    *,
    level: Level = "per_question",
    ddof: int = 1,
    pooled: bool = False,
    labels: Labels | None = None,
) -> pl.DataFrame:
    """One row per model, type of question, evidence and temperature: what score and spread figures draw.

    `model` also names whatever else of the pipeline differs within the table. `pooled` adds rows of all types
    together, with qtype None, which questions without a type have anyway. `baseline_cv` is the mean over temperatures
    of the CV with original evidence. Nothing measured is None, and so is the CV of a
    metric with values below 0.
    """
    questions = by_question(table.filter(metric=metric), ddof=ddof)
    crosses = metric in crossing_zero(table)
    has_types = pl.col("type").is_not_null().any().over(CONDITION)
    cells = (
        pooled_and_by_type(questions.with_columns(has_types=has_types))
        .filter(pl.col("type").is_not_null() | ~pl.col("has_types") | pl.lit(pooled))
        .group_by(*CONDITION, "type")
        .agg(
            n=pl.col("mean").count().cast(pl.Int64),
            mean=pl.col("mean").mean(),
            variance_runs=(pl.col("sd") ** 2).mean(),
            sd_runs=pl.col("sd").mean(),
            sd_questions=pl.when(pl.col("mean").count() > 1).then(pl.col("mean").std(ddof=ddof)),
            cv=pl.lit(None, dtype=pl.Float64) if crosses else coefficient_of_variation(level, ddof),
        )
    )
    labels = labels or Labels.of(table)
    names = [labels.name(cell, "dataset", "variation") for cell in cells_of(cells)]
    cells = cells.with_columns(
        model=pl.Series(names, dtype=pl.String), context=pl.col("perturbation").fill_null(UNCHANGED)
    ).rename({"type": "qtype", "temperature": "T"})
    original = cells.filter(context=UNCHANGED).sort("T").group_by("model", "qtype").agg(baseline_cv=pl.col("cv").mean())
    return (
        cells.join(original, on=("model", "qtype"), how="left", nulls_equal=True)
        .select(COLUMNS)
        .sort("model", "qtype", pl.col("context") != UNCHANGED, "context", "T")
    )
