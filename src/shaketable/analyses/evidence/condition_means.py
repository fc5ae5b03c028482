"""Question means and their differences, averaged over the questions of each condition."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shaketable.analyses.conditions import CONDITION, by_condition, cells_of, units_of
from shaketable.analyses.tables import Tables
from shaketable.factors import FACTORS, Cell
from shaketable.statistics.intervals import Numbers
from shaketable.statistics.sign_flips import sign_flip
from shaketable.statistics.worst_case import MOST_FAILED, Test, WorstCase, worst_cases
from shaketable.types import Estimate

MEANS = ("mean", "least", "greatest")
"""Of a question: as it is, and had its failed runs scored as badly or as well as can be."""


def pair(first: pl.DataFrame, second: pl.DataFrame, *, but: str) -> pl.DataFrame:
    """First minus second for questions that have both, in conditions that are the same but for one factor.

    Its ends are those of a difference: the runs that failed turned out badly on one side and well on the other.
    """
    same = ["metric", "question_id", "type", *(factor for factor in FACTORS if factor != but)]
    return (
        second.join(first, on=same, nulls_equal=True, suffix="_first")
        .select(
            *CONDITION,
            "question_id",
            "type",
            *("n_runs", "n_failed", "n_runs_first", "n_failed_first"),
            mean=pl.col("mean_first") - pl.col("mean"),
            least=pl.col("least_first") - pl.col("greatest"),
            greatest=pl.col("greatest_first") - pl.col("least"),
            sd=pl.lit(None, dtype=pl.Float64),
            n_missing=pl.col("n_missing_first") + pl.col("n_missing"),
        )
        .sort(*CONDITION, "question_id")
    )


def group(questions: pl.DataFrame, ddof: int) -> pl.DataFrame:
    """One row per condition, pooled and by type of question: its questions and their means."""
    if "is_as_asked" not in questions.columns:
        questions = questions.with_columns(is_as_asked=pl.lit(False))
    sides = [end for end in ("", "_first") if f"n_runs{end}" in questions.columns]
    failed = pl.max_horizontal(
        pl.col(f"n_failed{end}").sum() / (pl.col(f"n_failed{end}") + pl.col(f"n_runs{end}")).sum() for end in sides
    )
    return by_condition(
        questions,
        pl.col(MEANS),
        pl.col("question_id").alias("question_ids"),
        pl.col("sd").mean().alias("sd_runs"),
        (pl.col("sd") ** 2).mean().alias("variance_runs"),
        pl.col("mean").std(ddof=ddof).alias("sd_questions"),
        pl.col("n_missing").sum(),
        (failed > MOST_FAILED).fill_null(False).alias("is_uncertain"),
        by=("is_as_asked",),
    )


class Estimated(NamedTuple):
    """One condition of question means, or of their differences."""

    cell: Cell
    mean: Estimate
    p: float | None
    worst_low: float | None
    worst_high: float | None
    metric: str
    is_as_asked: bool
    sd_runs: float | None
    variance_runs: float | None
    sd_questions: float | None
    n_missing: int


def estimate(
    conditions: pl.DataFrame, tables: Tables, *, tested: str | None = None, is_difference: bool = False
) -> Iterator[Estimated]:
    """With the p of differences by the metric `tested`, of all types of question together."""
    ids = conditions["question_ids"].explode().drop_nulls().unique().sort().to_list()
    values = _matrix(conditions, "mean", ids)
    unit_of = units_of(map(tables.of_metric, conditions["metric"].unique()))
    metrics = [unit_of[name] for name in conditions["metric"]]
    means = tables.bootstrap.means(values, ids, unit=metrics, is_difference=is_difference)
    is_tested = ((conditions["metric"] == (tested or "")) & conditions["type"].is_null()).to_numpy()
    cases = _worst_cases(conditions, values, ids, is_tested)
    rest = conditions.select(
        "metric", "is_as_asked", "sd_runs", "variance_runs", "sd_questions", "n_missing"
    ).iter_rows()
    for cell, mean, case, columns in zip(cells_of(conditions), means, cases, rest, strict=True):
        known = mean if mean.n else replace(mean, reason="no scores")
        yield Estimated(cell, known, None if math.isnan(case.p) else case.p, case.low, case.high, *columns)


def _worst_cases(
    conditions: pl.DataFrame, values: Numbers, ids: Sequence[str], is_tested: NDArray[np.bool_]
) -> list[WorstCase]:
    """In the order of the conditions; those that are not tested have no p."""
    is_uncertain = conditions["is_uncertain"].to_numpy()
    least, greatest = (_matrix(conditions, end, ids) if is_uncertain.any() else values for end in MEANS[1:])

    def cases_of(rows: NDArray[np.intp], test: Test, *, keeps_sign: bool) -> Iterator[tuple[int, WorstCase]]:
        filled = least[rows], greatest[rows]
        cases = worst_cases(values[rows], filled, is_uncertain[rows], test, keeps_sign=keeps_sign)
        return zip(rows.tolist(), cases, strict=True)

    tested = cases_of(np.flatnonzero(is_tested), lambda some: sign_flip(some, ids), keeps_sign=True)
    others = cases_of(np.flatnonzero(~is_tested), lambda some: [math.nan] * len(some), keeps_sign=False)
    return [case for _, case in sorted((*tested, *others), key=lambda pair: pair[0])]


def _matrix(conditions: pl.DataFrame, column: str, ids: Sequence[str]) -> Numbers:
    """Conditions × questions, NaN where a condition has none."""
    listed = conditions.with_row_index("row").select("row", column, "question_ids").explode(column, "question_ids")
    places = pl.DataFrame({"question_ids": ids}, schema={"question_ids": pl.String}).with_row_index("place")
    known = listed.drop_nulls().join(places, on="question_ids")
    values = np.full((len(conditions), len(ids)), np.nan)
    values[known["row"].to_numpy(), known["place"].to_numpy()] = known[column].to_numpy()
    return values
