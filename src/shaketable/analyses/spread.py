"""The coefficient of variation, at the three levels it can be taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import polars as pl

from shaketable.analyses.conditions import by_question
from shaketable.factors import UNCHANGED, Cell, System, measure_of

Level = Literal["per_question", "ratio_of_means", "across_questions"]


CROSSES_ZERO = "values below 0 occur, so the mean is no scale to divide by"


def crossing_zero(table: pl.DataFrame) -> list[str]:
    """Metrics that have no coefficient of variation: they declare values below 0, or, undeclared, have some."""
    below = table.group_by("metric").agg(is_below=(pl.col("value") < 0).any())
    return sorted(
        name
        for name, is_below in below.iter_rows()
        if is_below or ((measure := measure_of(name)).unit is not None and measure.minimum is None)
    )


def coefficient_of_variation(level: Level, ddof: int) -> pl.Expr:
    """sd / mean of one condition, from the `mean` and `sd` of its questions; None where the mean is not above 0.

    `per_question` averages the CV over runs of each question, `ratio_of_means` divides the mean sd over runs by the
    mean score, `across_questions` takes the sd between question means.
    """
    mean, sd = pl.col("mean"), pl.col("sd")
    if level == "per_question":
        return (sd / mean).filter(mean > 0).mean()
    if level == "ratio_of_means":
        over, under = sd.mean(), mean.filter(sd.is_not_null()).mean()
    else:
        over, under = pl.when(mean.count() > ddof).then(mean.std(ddof=ddof)), mean.mean()
    return pl.when(under > 0).then(over / under)


def stability_baselines(table: pl.DataFrame, metric: str) -> Mapping[Cell, float]:
    """The mean over temperatures of the coefficient of variation over runs with original evidence, of each system."""
    if metric in crossing_zero(table):
        return {}
    place = ("dataset", "model", "method", "retriever", "variation")
    is_original = pl.col("perturbation").is_null() | (pl.col("perturbation") == UNCHANGED)
    baselines = (
        by_question(table.filter(is_original, metric=metric))
        .group_by(*place, "temperature", maintain_order=True)
        .agg(cv=coefficient_of_variation("per_question", 1))
        .sort("temperature")
        .group_by(place, maintain_order=True)
        .agg(pl.col("cv").mean())
        .drop_nulls("cv")
    )
    return {
        Cell(dataset=dataset, system=System(model=model, method=method, retriever=retriever), variation=variation): cv
        for dataset, model, method, retriever, variation, cv in baselines.iter_rows()
    }
