"""How much do repeated answers differ, and how much of that is there before anything is disturbed?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from shaketable.analyses.conditions import CONDITION, ORIGINAL, by_question, labelled_rows, names_in, pooled_and_by_type
from shaketable.analyses.intervals import Numbers, Statistic, mean_of, with_estimates
from shaketable.analyses.spread import Level
from shaketable.analyses.wording import bounds, number, questions
from shaketable.measures import main_metric
from shaketable.types import Finding

BETWEEN = {
    "per_question": "between runs of a question",
    "ratio_of_means": "between runs",
    "across_questions": "between questions",
}


def variability(
    table: pl.DataFrame,
    *,
    metric: str | None = None,
    level: Level = "per_question",
    ddof: int = 1,
    confidence: float = 0.95,
    n_resamples: int = 2000,
) -> Finding:
    """The coefficient of variation (sd / mean) of each condition, with bootstrap intervals over questions.

    `per_question` averages the CV over runs of each question, `ratio_of_means` divides the mean sd over runs by the
    mean score, `across_questions` takes the sd between question means. `baseline` is the stability baseline: the mean
    over temperatures of the CV with unchanged evidence. A mean of 0 or a single run has no CV, and says so in `reason`.
    """
    cells = with_estimates(
        _conditions(by_question(table, ddof=ddof), level),
        _statistic_of(level, ddof),
        confidence=confidence,
        n_resamples=n_resamples,
    )
    rows = labelled_rows("variability", _with_baseline(cells.with_columns(reason=_reason())), table)
    main = main_metric(names_in(table), metric)
    _add_sentences(rows, main, BETWEEN[level])
    for row in rows:
        row["unit"] = "ratio"
    return Finding(
        analysis="variability",
        question="How much do repeated answers to the same question differ?",
        rows=tuple(rows),
        sentences=tuple(f"{row['sentence']} {row['detail']}" for row in rows if row["sentence"]),
        caveats=_caveats(rows),
        settings={
            "main_metric": main,
            "level": level,
            "ddof": ddof,
            "confidence": confidence,
            "n_resamples": n_resamples,
        },
    )


def _conditions(by_question: pl.DataFrame, level: Level) -> pl.DataFrame:
    mean, sd = pl.col("mean"), pl.col("sd")
    usable = {
        "per_question": sd.is_not_null() & (mean != 0),
        "ratio_of_means": sd.is_not_null(),
        "across_questions": mean.is_not_null(),
    }[level]
    return (
        pooled_and_by_type(by_question)
        .group_by(*CONDITION, "type", maintain_order=True)
        .agg(
            means=mean.filter(usable),
            sds=sd.filter(usable),
            question_ids=pl.col("question_id").filter(usable),
            n=usable.sum().cast(pl.Int64),
            n_zero_mean=(mean == 0).sum().cast(pl.Int64),
            n_single_run=(pl.col("n_runs") == 1).sum().cast(pl.Int64),
            n_missing=pl.col("n_missing").sum(),
        )
        .with_columns(contrast=pl.lit(None, dtype=pl.String))
    )


def _statistic_of(level: Level, ddof: int) -> Callable[[pl.DataFrame], Statistic]:
    def statistic(cells: pl.DataFrame) -> Statistic:
        means, sds = (np.array(cells[name].to_list(), dtype=np.float64) for name in ("means", "sds"))
        if level == "per_question":
            return mean_of(sds / means)
        spread = mean_of(sds) if level == "ratio_of_means" else _sd_across(means, ddof)
        return lambda drawn: _ratio(spread(drawn), mean_of(means)(drawn))

    return statistic


def _sd_across(means: Numbers, ddof: int) -> Statistic:
    n = means.shape[1]
    centered = means - means.mean(axis=1, keepdims=True)

    def sd(drawn: Numbers) -> Numbers:
        variance = mean_of(centered**2)(drawn) - mean_of(centered)(drawn) ** 2
        return np.sqrt(np.maximum(_ratio(variance * n, np.full_like(variance, n - ddof)), 0))

    return sd


def _ratio(over: Numbers, under: Numbers) -> Numbers:
    """NaN, not infinity, where there is nothing to divide by."""
    return np.divide(over, under, out=np.full_like(over, np.nan), where=under != 0)


def _reason() -> pl.Expr:
    return (
        pl.when(pl.col("value").is_not_null())
        .then(None)
        .when(pl.col("n_zero_mean") > 0)
        .then(pl.lit("the mean is 0"))
        .when(pl.col("n_single_run") > 0)
        .then(pl.lit("a single run"))
        .otherwise(pl.lit("no scores"))
    )


def _with_baseline(cells: pl.DataFrame) -> pl.DataFrame:
    """Temperatures without a CV are left out of the mean."""
    place = [name for name in (*CONDITION, "type") if name not in ("perturbation", "temperature")]
    original = cells.filter(pl.col("perturbation").is_null() | (pl.col("perturbation") == ORIGINAL))
    baselines = original.group_by(place).agg(baseline=pl.col("value").mean())
    return cells.join(baselines, on=place, how="left", nulls_equal=True)


def _add_sentences(rows: list[dict[str, Any]], main_metric: str | None, between: str) -> None:
    """One sentence per system, at the hottest temperature; greedy answers do not vary, shares only in steps."""
    for row in rows:
        row.update(headline=None, sentence=None, detail=None)
    said = [
        row
        for row in rows
        if row["metric"] == main_metric
        and row["type"] is None
        and row["perturbation"] in (ORIGINAL, None)
        and row["value"] is not None
        and row["unit"] == "score"
        and row["temperature"] > 0
    ]
    hottest = max((row["temperature"] for row in said), default=None)
    for row in said:
        if row["temperature"] == hottest:
            cv = number(row["value"], "score") + bounds(row)
            baseline = number(row["baseline"], "score")
            row.update(
                headline="variability",
                sentence=f"At temperature {hottest:g} the {row['metric']} of {row['system']} varies by {cv} {between}.",
                detail=f"This is the standard deviation divided by the mean, with undisturbed evidence; its mean over "
                f"temperatures, the stability baseline, is {baseline} ({questions(row['n'])}).",
            )


def _caveats(rows: list[dict[str, Any]]) -> tuple[str, ...]:
    said = []
    if any(row["n_zero_mean"] for row in rows):
        said.append("A question whose mean is 0 has no coefficient of variation; such questions are counted apart.")
    if any(row["n_single_run"] for row in rows):
        said.append("A question with a single run has no spread; such questions are counted apart.")
    return tuple(said)
