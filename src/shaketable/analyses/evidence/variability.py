"""How much do repeated answers differ, and how much of that is there before anything is disturbed?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
import polars as pl

from shaketable.analyses.claims import Claim
from shaketable.analyses.conditions import by_condition, by_question, cells_of, units
from shaketable.analyses.evidence.type_contrasts import TypeContrast, compare_types
from shaketable.analyses.grids import systems
from shaketable.analyses.rows import Scored
from shaketable.analyses.spread import CROSSES_ZERO, Level, crossing_zero, without_bias
from shaketable.analyses.tables import Tables
from shaketable.factors import Cell
from shaketable.statistics.intervals import Bootstrap
from shaketable.statistics.variation import (
    ByQuestion,
    average_by_question,
    deviation_by_question,
    estimate_ratios,
    estimate_together,
    pooled_by_question,
    ratio_by_question,
)
from shaketable.types import Estimate, Unit

Kind = Literal[Level, "flips"]
"""What is taken of a condition: a level of the coefficient of variation, or of a share the flip rate."""
Formula = Literal["unbiased", "published"]
PER_QUESTION = ("mean", "sd", "sigma", "variance", "cv", "flips")


@dataclass(frozen=True, kw_only=True, slots=True)
class Spread(Scored):
    """How much the answers of one condition differ."""

    cv: Estimate
    """The coefficient of variation, standard deviation divided by mean, without the bias of few runs; of a share the
    flip rate, the chance that two answers to a question differ (unit `share`)."""
    published_cv: Estimate
    """The coefficient by the published formula: the deviation of 3 runs is a ninth too small."""
    baseline: Estimate | None
    """The stability baseline: the mean over temperatures of the coefficient with undisturbed evidence, leaving out
    temperatures that have none; None: no temperature has one."""
    among: Estimate | None
    """As one of all temperatures above 0, of which the largest is spoken of: it is drawn towards their mean, and its
    interval holds for all at once. None: of single temperatures, types of question and disturbed evidence."""
    n_zero_mean: int
    """Questions whose mean is not above 0: they have no coefficient."""
    n_single_run: int
    """Questions with a single run: they have no deviation."""


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
    formula: Formula = "unbiased"
    """Of the coefficients that are shown."""

    tells_of_evidence: ClassVar[bool] = True

    def claims(self) -> Iterable[Claim]:
        """That answers to one type of question vary more than those to another, over all temperatures."""
        overall = [contrast for contrast in self.contrasts if contrast.cell.temperature is None]
        for contrast in overall:
            pairs = [other for other in overall if other.cell == contrast.cell]
            yield Claim(subject=contrast.subject, estimate=contrast.difference, p=contrast.p, weight=1 / len(pairs))


def variability(
    tables: Tables,
    *,
    metric: str | None = None,
    level: Level = "per_question",
    ddof: int = 1,
    formula: Formula = "unbiased",
) -> Variability:
    """The coefficient of variation of each condition, and types of question compared by it.

    `per_question` averages the CV over runs of each question, `ratio_of_means` divides the mean sd over runs by the
    mean score, `pooled` the root of the mean variance, `across_questions` takes the sd between question means. The
    first two have little bias of few runs where scores are spread over a range, `pooled` has none also where answers
    jump between few scores. A share has a flip rate instead, whatever the level. A mean that is not above 0, a metric
    with values below 0 and a single run have no CV. `ddof` is of the CV as published; the other needs none.
    `formula='published'` shows the CV and its stability baseline with the bias of few runs, as published studies do,
    of shares too.
    """
    main = tables.metric(metric)
    crossing: list[str] = []
    spreads: list[Spread] = []
    for name in sorted(tables.metrics):  # One number at a time, as those of a large run do not fit the memory together.
        scores = tables.of_metric(name)
        crossing += crossing_zero(scores)
        is_share = dict(units(scores).iter_rows()).get(name) == "share"
        kind: Kind = "flips" if is_share and formula == "unbiased" else level
        conditions = _conditions(without_bias(by_question(scores, ddof=ddof), ddof=ddof), kind, crossing)
        spreads += (_with_reason(own, crossing) for own in _spreads(conditions, kind, ddof, formula, tables.bootstrap))
    return Variability(
        metric=main,
        unit=None if main is None else dict(units(tables.of_metric(main)).iter_rows()).get(main),
        level=level,
        formula=formula,
        spreads=tuple(spreads),
        contrasts=tuple(
            contrast
            for grid in systems(tables.score_reader, main, "cv")
            for contrast in compare_types(grid, tables.bootstrap)
        ),
        crossing_zero=tuple(crossing),
    )


def _conditions(questions: pl.DataFrame, level: Kind, crossing: Sequence[str]) -> pl.DataFrame:
    mean, sd = pl.col("mean"), pl.col("sd")
    usable = {
        "per_question": sd.is_not_null() & (mean > 0),
        "ratio_of_means": sd.is_not_null(),
        "pooled": sd.is_not_null(),
        "flips": sd.is_not_null(),
        "across_questions": mean.is_not_null(),
    }[level] & ~pl.col("metric").is_in(crossing)
    return by_condition(
        questions,
        pl.col("question_id", *PER_QUESTION).filter(usable),
        (mean <= 0 if level != "flips" else pl.lit(False)).sum().cast(pl.Int64).alias("n_zero_mean"),
        (pl.col("n_runs") == 1).sum().cast(pl.Int64).alias("n_single_run"),
        pl.col("n_missing").sum(),
    )


def _spreads(
    conditions: pl.DataFrame, level: Kind, ddof: int, formula: Formula, bootstrap: Bootstrap
) -> tuple[Spread, ...]:
    """Without the reasons of those that are none."""
    every = [_by_question(row, level, ddof) for row in conditions.select("question_id", *PER_QUESTION).iter_rows()]
    published = [own for _, own in every]
    corrected = published if formula == "published" else [own for own, _ in every]
    unit: Unit = "share" if level == "flips" else "ratio"
    counts = conditions.select("metric", "n_zero_mean", "n_single_run", "n_missing").iter_rows()
    spreads = tuple(
        Spread(
            cell=cell,
            metric=metric,
            cv=cv,
            published_cv=published_cv,
            baseline=None,
            among=None,
            n_zero_mean=n_zero_mean,
            n_single_run=n_single_run,
            n_missing=n_missing,
        )
        for cell, cv, published_cv, (metric, n_zero_mean, n_single_run, n_missing) in zip(
            cells_of(conditions),
            estimate_ratios(corrected, bootstrap, unit),
            estimate_ratios(published, bootstrap),
            counts,
            strict=True,
        )
    )
    return _together(_with_baselines(spreads, corrected, bootstrap, unit), corrected, bootstrap, unit)


def _by_question(row: tuple[Sequence[str], ...], level: Kind, ddof: int) -> tuple[ByQuestion, ByQuestion]:
    """Of one condition, its coefficient without bias (of a share its flip rate) and as published."""
    ids, (means, sds, sigmas, variances, cvs, flips) = tuple(row[0]), np.array(row[1:], dtype=np.float64)
    if level == "flips":
        is_above = means > 0
        above = tuple(id for id, own in zip(ids, is_above.tolist(), strict=True) if own)
        as_published = ByQuestion(question_ids=above, values=sds[is_above] / means[is_above])
        return ByQuestion(question_ids=ids, values=flips), as_published
    if level == "per_question" or not ids:
        values = cvs, sds / means
    elif level == "ratio_of_means":
        values = ratio_by_question(sigmas, means), ratio_by_question(sds, means)
    elif level == "pooled":
        values = pooled_by_question(variances, means), pooled_by_question(sds**2, means)
    else:
        values = deviation_by_question(means, 1), deviation_by_question(means, ddof)
    corrected, published = (ByQuestion(question_ids=ids, values=own) for own in values)
    return corrected, published


def _with_baselines(
    spreads: Sequence[Spread], values: Sequence[ByQuestion], bootstrap: Bootstrap, unit: Unit
) -> tuple[Spread, ...]:
    original: dict[tuple[str, Cell], list[ByQuestion]] = {}
    for spread, own in zip(spreads, values, strict=True):
        if spread.cell.is_undisturbed and spread.cv.value is not None:
            original.setdefault(_line(spread), []).append(own)
    averages = estimate_ratios([average_by_question(line) for line in original.values()], bootstrap, unit)
    baselines = dict(zip(original, averages, strict=True))
    return tuple(replace(spread, baseline=baselines.get(_line(spread))) for spread in spreads)


def _together(
    spreads: Sequence[Spread], values: Sequence[ByQuestion], bootstrap: Bootstrap, unit: Unit
) -> tuple[Spread, ...]:
    """With what can be said of the largest of each line over temperatures; greedy answers are none of it."""
    lines: dict[tuple[str, Cell], list[int]] = {}
    for i, spread in enumerate(spreads):
        cell = spread.cell
        if cell.is_undisturbed and cell.group is None and cell.temperature and spread.cv.n > 1:
            lines.setdefault(_line(spread), []).append(i)
    told = list(spreads)
    for line in lines.values():
        if len(line) > 1:
            for i, among in zip(line, estimate_together([values[i] for i in line], bootstrap, unit), strict=True):
                told[i] = replace(told[i], among=among)
    return tuple(told)


def _line(spread: Spread) -> tuple[str, Cell]:
    """A system and a type of question, whatever the evidence and temperature."""
    return spread.metric, replace(spread.cell, perturbation=None, temperature=None)


def _with_reason(spread: Spread, crossing: Sequence[str]) -> Spread:
    """Why there is no coefficient."""
    if spread.cv.value is not None:
        return spread
    reason = "the mean is 0" if spread.n_zero_mean else "a single run" if spread.n_single_run else spread.cv.reason
    reason = CROSSES_ZERO if spread.metric in crossing else reason
    return replace(
        spread, cv=replace(spread.cv, reason=reason), published_cv=replace(spread.published_cv, reason=reason)
    )
