"""The scores of one system in all its conditions, the one in which nothing is shaken first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from shaketable.analyses.conditions import by_question, cells_of, fill_failed, units
from shaketable.analyses.tables import Tables
from shaketable.factors import ORIGINAL, SYSTEM, UNCHANGED, Cell
from shaketable.statistics.intervals import Numbers
from shaketable.statistics.worst_case import is_uncertain
from shaketable.types import Unit

CONDITION = ("variation", "perturbation", "temperature")


@dataclass(frozen=True, kw_only=True)
class Shaken:
    """Means over runs, conditions × questions; NaN where a question has no score."""

    metric: str
    unit: Unit
    cells: tuple[Cell, ...]
    """The clean one first, where there is one."""
    has_clean: bool
    question_ids: tuple[str, ...]
    means: Numbers
    least: Numbers
    """Had the runs that failed scored as badly as can be."""
    greatest: Numbers
    n_runs: Numbers
    n_failed: Numbers

    def of_uncertain(self, filled: Numbers) -> Numbers:
        """Of the conditions of which, or of whose clean case, too many failed; NaN for the others."""
        failed, scored = (counts.sum(axis=1).astype(np.int64) for counts in (self.n_failed, self.n_runs))
        uncertain = is_uncertain(failed, scored)
        matters = uncertain | uncertain[0] if self.has_clean else uncertain
        return np.where(matters[:, None], filled, np.nan)


def shaken_systems(tables: Tables, metric: str) -> Iterator[Shaken]:
    """One for each system and dataset, in a fixed order."""
    of_metric = tables.of_metric(metric)
    unit: Unit = dict(units(of_metric).iter_rows()).get(metric, "score")
    questions = fill_failed(by_question(of_metric), of_metric)
    parts = questions.partition_by("dataset", *SYSTEM)
    for part in sorted(parts, key=lambda own: str(own.select("dataset", *SYSTEM).row(0))):
        yield _laid_out(part, metric, unit)


def _laid_out(questions: pl.DataFrame, metric: str, unit: Unit) -> Shaken:
    is_clean = (
        (pl.col("variation") == ORIGINAL)
        & (pl.col("perturbation").fill_null(UNCHANGED) == UNCHANGED)
        & (pl.col("temperature") == pl.col("temperature").min())
    )
    ordered = questions.with_columns(is_shaken=~is_clean)
    conditions = ordered.unique(["is_shaken", *CONDITION], keep="first", maintain_order=True).sort(
        "is_shaken", *CONDITION, nulls_last=False
    )
    place = {row: i for i, row in enumerate(conditions.select(CONDITION).iter_rows())}
    ids = sorted(questions["question_id"].unique())
    at = {id: i for i, id in enumerate(ids)}
    rows = np.array([place[row] for row in questions.select(CONDITION).iter_rows()], dtype=np.intp)
    columns = np.array([at[id] for id in questions["question_id"]], dtype=np.intp)

    def lay_out(column: str, empty: float) -> Numbers:
        laid_out = np.full((len(place), len(ids)), empty)
        laid_out[rows, columns] = questions[column].cast(pl.Float64).fill_null(empty).to_numpy()
        return laid_out

    return Shaken(
        metric=metric,
        unit=unit,
        cells=tuple(cells_of(conditions.with_columns(type=pl.lit(None, dtype=pl.String)))),
        has_clean=not conditions["is_shaken"][0],
        question_ids=tuple(ids),
        means=lay_out("mean", np.nan),
        least=lay_out("least", np.nan),
        greatest=lay_out("greatest", np.nan),
        n_runs=lay_out("n_runs", 0.0),
        n_failed=lay_out("n_failed", 0.0),
    )
