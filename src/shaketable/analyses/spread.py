"""The coefficient of variation, at the three levels it can be taken, as published and without its bias of few runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import numpy as np
import polars as pl

from shaketable.analyses.conditions import by_question, units
from shaketable.factors import UNCHANGED, Cell, System, measure_of
from shaketable.statistics.intervals import Bootstrap
from shaketable.statistics.variation import ByQuestion, average_by_question, c4, estimate_ratios
from shaketable.types import Estimate

Level = Literal["per_question", "ratio_of_means", "pooled", "across_questions"]


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
    """sd / mean of one condition as published, from the `mean` and `sd` of its questions: with few runs too small.

    `per_question` averages the CV over runs of each question, `ratio_of_means` divides the mean sd over runs by the
    mean score, `pooled` the root of the mean variance over runs, `across_questions` takes the sd between question
    means. None where the mean is not above 0.
    """
    mean, sd = pl.col("mean"), pl.col("sd")
    if level == "per_question":
        return (sd / mean).filter(mean > 0).mean()
    if level in ("ratio_of_means", "pooled"):
        over = sd.mean() if level == "ratio_of_means" else (sd**2).mean().sqrt()
        under = mean.filter(sd.is_not_null()).mean()
    else:
        over, under = pl.when(mean.count() > ddof).then(mean.std(ddof=ddof)), mean.mean()
    return pl.when(under > 0).then(over / under)


def without_bias(questions: pl.DataFrame, *, ddof: int = 1) -> pl.DataFrame:
    """Add `sigma`, `variance`, `cv` and `flips` of each question, without the bias of few runs; None with one run.

    The sd of few runs is too small (c4), and 1 / mean too large, by about the variance of the mean (delta method). Of
    scores spread over 0 to 1 whose coefficient is up to 0.5, `cv` is off by at most 4 % with 3, 5 and 10 runs, where
    the plain one is off by up to 11 % (simulated in `tests/analyses/test_spread.py`). Scores that are all 0 or 1 have
    no coefficient that few runs estimate: `flips` is the chance that two runs differ, 2 p (1 − p).
    """
    mean, sd, n = pl.col("mean"), pl.col("sd"), pl.col("n_runs")
    expected = {
        runs: c4(runs) * math.sqrt((runs - 1) / (runs - ddof)) for runs in questions["n_runs"].unique() if runs > 1
    }
    sigma = sd / n.replace_strict(expected, default=None, return_dtype=pl.Float64)
    cv = pl.col("sigma") / mean * (1 - (n - ddof) * (sd / (n * mean)) ** 2)
    variance = sd**2 * (n - ddof) / (n - 1)
    measured = questions.with_columns(sigma=sigma, variance=variance, flips=(2 * variance).clip(0, 1))
    return measured.with_columns(cv=pl.when(mean > 0).then(cv))


def stability_baselines(table: pl.DataFrame, metric: str, bootstrap: Bootstrap) -> Mapping[Cell, Estimate]:
    """Return how much repeats of a question differ with original evidence, the mean over temperatures, by system.

    For a share the chance that two answers to a question differ, else the coefficient of variation.
    """
    is_share = dict(units(table).iter_rows()).get(metric) == "share"
    number: Literal["flips", "cv"] = "flips" if is_share else "cv"
    if not is_share and metric in crossing_zero(table):
        return {}
    place = ("dataset", "model", "method", "retriever", "variation")
    is_original = pl.col("perturbation").is_null() | (pl.col("perturbation") == UNCHANGED)
    lines = (
        without_bias(by_question(table.filter(is_original, metric=metric)))
        .drop_nulls(number)
        .group_by(*place, "temperature", maintain_order=True)
        .agg("question_id", number)
        .group_by(place, maintain_order=True)
        .agg("question_id", number)
    )
    cells = [
        Cell(dataset=dataset, system=System(model=model, method=method, retriever=retriever), variation=variation)
        for dataset, model, method, retriever, variation in lines.select(place).iter_rows()
    ]
    averages = [
        average_by_question(
            [ByQuestion(question_ids=tuple(own), values=np.array(one)) for own, one in zip(ids, every, strict=True)]
        )
        for ids, every in lines.select("question_id", number).iter_rows()
    ]
    estimates = estimate_ratios(averages, bootstrap, "share" if is_share else "ratio")
    return dict(zip(cells, estimates, strict=True))
