"""How much do repeated answers differ, and how much of that is there before anything is disturbed?"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from shaketable.analyses.conditions import CONDITION, ORIGINAL, by_question, labelled_rows, names_in, pooled_and_by_type
from shaketable.analyses.grids import Grid, systems
from shaketable.analyses.spread import CROSSES_ZERO, Level, crossing_zero
from shaketable.factors import main_metric
from shaketable.report.old_words import bounds, holds_zero, measured, number, questions
from shaketable.statistics.intervals import Numbers, Statistic, difference_of_groups, known, mean_of, with_estimates
from shaketable.types import OldFinding

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
) -> OldFinding:
    """The coefficient of variation (sd / mean) of each condition, with bootstrap intervals over questions.

    `per_question` averages the CV over runs of each question, `ratio_of_means` divides the mean sd over runs by the
    mean score, `across_questions` takes the sd between question means. `baseline` is the stability baseline: the mean
    over temperatures of the CV with unchanged evidence. A mean that is not above 0, a metric with values below 0 and a
    single run have no CV, and say so in `reason`. Rows with a `contrast` compare types of question, over all evidence
    and at each temperature and (temperature None) over all.
    """
    crossing = crossing_zero(table)
    cells = with_estimates(
        _conditions(by_question(table, ddof=ddof), level, crossing),
        _statistic_of(level, ddof),
        confidence=confidence,
        n_resamples=n_resamples,
    )
    rows = labelled_rows("variability", _with_baseline(cells.with_columns(reason=_reason(crossing))), table)
    main = main_metric(names_in(table), metric)
    _add_sentences(rows, main, BETWEEN[level])
    types = [row for grid in systems(table, main, "cv") for row in _types_compared(grid, confidence, n_resamples)]
    rows += [dict.fromkeys(rows[0]) | row for row in types]
    for row in rows:
        row["unit"] = "ratio"
    return OldFinding(
        analysis="variability",
        question="How much do repeated answers to the same question differ?",
        rows=tuple(rows),
        sentences=(
            *(f"{row['sentence']} {row['detail']}" for row in rows if row["sentence"]),
            *(_type_sentence(row) for row in types if row["temperature"] is None and row["low"] is not None),
        ),
        caveats=_caveats(rows),
        settings={
            "main_metric": main,
            "level": level,
            "ddof": ddof,
            "confidence": confidence,
            "n_resamples": n_resamples,
        },
    )


def _conditions(by_question: pl.DataFrame, level: Level, crossing: Sequence[str]) -> pl.DataFrame:
    mean, sd = pl.col("mean"), pl.col("sd")
    usable = {
        "per_question": sd.is_not_null() & (mean > 0),
        "ratio_of_means": sd.is_not_null(),
        "across_questions": mean.is_not_null(),
    }[level] & ~pl.col("metric").is_in(crossing)
    return (
        pooled_and_by_type(by_question)
        .group_by(*CONDITION, "type", maintain_order=True)
        .agg(
            means=mean.filter(usable),
            sds=sd.filter(usable),
            question_ids=pl.col("question_id").filter(usable),
            n=usable.sum().cast(pl.Int64),
            n_zero_mean=(mean <= 0).sum().cast(pl.Int64),
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
    return np.divide(over, under, out=np.full_like(over, np.nan), where=under > 0)


def _reason(crossing: Sequence[str]) -> pl.Expr:
    return (
        pl.when(pl.col("value").is_not_null())
        .then(None)
        .when(pl.col("metric").is_in(crossing))
        .then(pl.lit(CROSSES_ZERO))
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


def _types_compared(grid: Grid, confidence: float, n_resamples: int) -> Iterator[dict[str, Any]]:
    """The mean CV of one type of question minus that of another: over all temperatures, and at each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # The mean of nothing is NaN, and such questions are left out.
        at_each = np.nanmean(grid.means, axis=0)
        by_temperature = np.vstack([np.nanmean(at_each, axis=0), at_each])
    known_types = sorted({type for type in grid.types if type is not None})
    for first, second in itertools.combinations(known_types, 2):
        for temperature, values in zip((None, *grid.temperatures), by_temperature, strict=True):
            groups = [
                values[[type == name and not np.isnan(value) for type, value in zip(grid.types, values, strict=True)]]
                for name in (second, first)
            ]
            if not all(len(group) for group in groups):
                continue
            row = grid.row(
                "variability",
                temperature=temperature,
                contrast=f"{second} - {first}",
                **known(difference_of_groups(*groups, confidence=confidence, n_resamples=n_resamples)),
                n=sum(map(len, groups)),
                n_missing=int(grid.n_missing.sum()),
            )
            yield row | {"n_zero_mean": 0, "n_single_run": 0}


def _type_sentence(row: dict[str, Any]) -> str:
    more, less = str(row["contrast"]).split(" - ")
    told = f"{number(row['value'], 'score')}{bounds(row)}"
    size = f"the coefficient of variation of its {measured(row['metric'])} differs by {told} ({questions(row['n'])})"
    if holds_zero(row):
        return f"{row['system']}: that answers to {more} and {less} questions vary unlike is not shown; {size}."
    more, less = (more, less) if row["value"] > 0 else (less, more)
    return f"{row['system']} varies more between runs on {more} than on {less} questions: {size}."


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
    crossing = sorted({row["metric"] for row in rows if row["reason"] == CROSSES_ZERO})
    if crossing:
        said.append(f"{', '.join(crossing)} has no coefficient of variation: {CROSSES_ZERO}.")
    if any(row["n_zero_mean"] for row in rows):
        said.append("A question whose mean is 0 has no coefficient of variation; such questions are counted apart.")
    if any(row["n_single_run"] for row in rows):
        said.append("A question with a single run has no spread; such questions are counted apart.")
    return tuple(said)
