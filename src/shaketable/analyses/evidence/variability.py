"""How much do repeated answers differ, and how much of that is there before anything is disturbed?"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import polars as pl

from shaketable.analyses.conditions import CONDITION, by_question, cells_of, pooled_and_by_type, units
from shaketable.analyses.grids import Grid, systems
from shaketable.analyses.rows import Scored
from shaketable.analyses.spread import CROSSES_ZERO, Level, crossing_zero
from shaketable.analyses.tables import Tables
from shaketable.factors import Cell
from shaketable.statistics.intervals import Bootstrap, Numbers, Statistic, mean_of
from shaketable.types import Estimate, Unit


@dataclass(frozen=True, kw_only=True, slots=True)
class Spread(Scored):
    """How much the answers of one condition differ."""

    cv: Estimate
    """The coefficient of variation: standard deviation divided by mean."""
    baseline: float | None
    """The stability baseline: the mean over temperatures of the coefficient with undisturbed evidence, leaving out
    temperatures that have none; None: no temperature has one."""
    n_zero_mean: int
    """Questions whose mean is not above 0: they have no coefficient."""
    n_single_run: int
    """Questions with a single run: they have no deviation."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TypeContrast(Scored):
    """The mean coefficient of variation of one type of question minus that of another, over all evidence.

    Its temperature is None where all temperatures are taken together. Missing records are those of the whole system.
    """

    type: str
    other: str
    """The type whose mean is taken away."""
    difference: Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class Variability:
    """How much do repeated answers to the same question differ?"""

    metric: str | None
    """The number that is spoken of; None: nothing was scored."""
    unit: Unit | None
    """Of its values; a share has no deviation worth speaking of, it varies in steps."""
    level: Level
    spreads: tuple[Spread, ...]
    contrasts: tuple[TypeContrast, ...]
    crossing_zero: tuple[str, ...]
    """Metrics that have no coefficient, because values below 0 occur."""

    tells_of_evidence: ClassVar[bool] = True


def variability(
    tables: Tables, *, metric: str | None = None, level: Level = "per_question", ddof: int = 1
) -> Variability:
    """The coefficient of variation of each condition, and types of question compared by it.

    `per_question` averages the CV over runs of each question, `ratio_of_means` divides the mean sd over runs by the
    mean score, `across_questions` takes the sd between question means. A mean that is not above 0, a metric with values
    below 0 and a single run have no CV.
    """
    table, main = tables.scores, tables.metric(metric)
    crossing = crossing_zero(table)
    conditions = _conditions(by_question(table, ddof=ddof), level, crossing)
    return Variability(
        metric=main,
        unit=None if main is None else dict(units(table).iter_rows()).get(main),
        level=level,
        spreads=_with_baselines(_spreads(conditions, _statistic_of(conditions, level, ddof), crossing, tables)),
        contrasts=tuple(
            contrast for grid in systems(table, main, "cv") for contrast in _types_compared(grid, tables.bootstrap)
        ),
        crossing_zero=tuple(crossing),
    )


def _conditions(questions: pl.DataFrame, level: Level, crossing: Sequence[str]) -> pl.DataFrame:
    mean, sd = pl.col("mean"), pl.col("sd")
    usable = {
        "per_question": sd.is_not_null() & (mean > 0),
        "ratio_of_means": sd.is_not_null(),
        "across_questions": mean.is_not_null(),
    }[level] & ~pl.col("metric").is_in(crossing)
    return (
        pooled_and_by_type(questions)
        .group_by(*CONDITION, "type", maintain_order=True)
        .agg(
            means=mean.filter(usable),
            sds=sd.filter(usable),
            question_ids=pl.col("question_id").filter(usable),
            n_zero_mean=(mean <= 0).sum().cast(pl.Int64),
            n_single_run=(pl.col("n_runs") == 1).sum().cast(pl.Int64),
            n_missing=pl.col("n_missing").sum(),
        )
        .sort(*CONDITION, "type")
    )


def _statistic_of(conditions: pl.DataFrame, level: Level, ddof: int) -> Callable[[Sequence[int]], Statistic]:
    all_means, all_sds = conditions["means"].to_list(), conditions["sds"].to_list()

    def statistic(places: Sequence[int]) -> Statistic:
        means, sds = (np.array([values[i] for i in places], dtype=np.float64) for values in (all_means, all_sds))
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


def _spreads(
    conditions: pl.DataFrame,
    statistic_of: Callable[[Sequence[int]], Statistic],
    crossing: Sequence[str],
    tables: Tables,
) -> Iterator[Spread]:
    """Without their baselines."""
    ids = conditions["question_ids"].to_list()
    estimates = tables.bootstrap.of_conditions(statistic_of, ids, ["ratio"] * len(ids))
    counts = conditions.select("metric", "n_zero_mean", "n_single_run", "n_missing").iter_rows()
    for cell, cv, (metric, n_zero_mean, n_single_run, n_missing) in zip(
        cells_of(conditions), estimates, counts, strict=True
    ):
        if cv.value is None and metric in crossing:
            cv = replace(cv, reason=CROSSES_ZERO)
        elif cv.value is None and (n_zero_mean or n_single_run):
            cv = replace(cv, reason="the mean is 0" if n_zero_mean else "a single run")
        yield Spread(
            cell=cell,
            metric=metric,
            cv=cv,
            baseline=None,
            n_zero_mean=n_zero_mean,
            n_single_run=n_single_run,
            n_missing=n_missing,
        )


def _with_baselines(spreads: Iterator[Spread]) -> tuple[Spread, ...]:
    every = list(spreads)
    original: dict[tuple[str, Cell], list[float]] = {}
    for spread in every:
        if spread.cell.is_undisturbed and spread.cv.value is not None:
            original.setdefault(_line(spread), []).append(spread.cv.value)
    means = {line: float(np.mean(values)) for line, values in original.items()}
    return tuple(replace(spread, baseline=means.get(_line(spread))) for spread in every)


def _line(spread: Spread) -> tuple[str, Cell]:
    """A system and a type of question, whatever the evidence and temperature."""
    return spread.metric, replace(spread.cell, perturbation=None, temperature=None)


def _types_compared(grid: Grid, bootstrap: Bootstrap) -> Iterator[TypeContrast]:
    """Over all temperatures, and at each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # The mean of nothing is NaN, and such questions are left out.
        at_each = np.nanmean(grid.means, axis=0)
        by_temperature = np.vstack([np.nanmean(at_each, axis=0), at_each])
    types = np.array([name or "" for name in grid.types])
    for other, name in itertools.combinations(sorted({name for name in grid.types if name is not None}), 2):
        for temperature, values in zip((None, *grid.temperatures), by_temperature, strict=True):
            own, others = (values[(types == of) & ~np.isnan(values)] for of in (name, other))
            if len(own) and len(others):
                yield TypeContrast(
                    cell=grid.cell(temperature=temperature),
                    metric=grid.metric,
                    type=name,
                    other=other,
                    difference=bootstrap.difference(own, others, unit="ratio"),
                    n_missing=int(grid.n_missing.sum()),
                )
