"""Question means laid out as arrays: what analyses that compare evidence and temperatures work on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shaketable.analyses.conditions import by_question, fill_failed, units
from shaketable.analyses.score_reading import ScoreReader, reading
from shaketable.analyses.spread import crossing_zero, without_bias
from shaketable.factors import UNCHANGED, Cell, System, main_metric, measure_of
from shaketable.statistics.intervals import ROUNDING, Numbers
from shaketable.statistics.worst_case import is_uncertain
from shaketable.types import Unit

Number = Literal["mean", "cv"]
Counts = NDArray[np.int64]
SYSTEM = ("dataset", "model", "method", "retriever", "variation")
"""What a grid is of: a system on one dataset, asked in one way."""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """The scores of one system by one metric: means over runs, evidence × temperatures × questions."""

    metric: str
    unit: Unit
    dataset: str
    system: System
    variation: str
    type: str | None
    """None: all types pooled."""
    evidence: tuple[str | None, ...]
    """Perturbations, the original first where there is one; None: the method does not search."""
    has_original: bool
    temperatures: tuple[float, ...]
    """Ascending."""
    question_ids: tuple[str, ...]
    """Ascending."""
    types: tuple[str | None, ...]
    """The type of each question."""
    means: Numbers
    """NaN where a question has no score."""
    least: Numbers
    """The same, had the runs that failed scored as badly as can be."""
    greatest: Numbers
    """As well as can be."""
    n_missing: Counts
    """Records without a score, in the same places."""
    n_failed: Counts
    """Of them those that might have a score."""
    n_runs: Counts
    """Records with a score."""

    @property
    def n_asked(self) -> Counts:
        """Records, with a score or without, in the same places."""
        return self.n_runs + self.n_missing

    @property
    def perturbations(self) -> tuple[str, ...]:
        """The disturbances that can be compared with the original; none without an original."""
        return tuple(str(name) for name in self.evidence[1:]) if self.has_original else ()

    def drops(self) -> Numbers:
        """Original minus disturbed, perturbations × temperatures × questions; NaN without both."""
        return np.round(self.means[:1] - self.means[1:], ROUNDING)

    def heat_drops(self) -> Numbers:
        """Coolest minus each temperature, evidence × temperatures × questions; NaN without both."""
        return np.round(self.means[:, :1] - self.means, ROUNDING)

    def filled(self) -> tuple[Grid, Grid]:
        """The same, had all runs that failed scored as badly as can be, and as well as can be."""
        return replace(self, means=self.least), replace(self, means=self.greatest)

    def at_ends(self, signs: Numbers) -> tuple[Grid, Grid]:
        """The same, had the runs that failed scored so that a sum of cells with these signs (evidence × temperatures)
        is least, and greatest."""
        is_added = np.broadcast_to(signs, self.means.shape[:2])[..., None] > 0
        return (
            replace(self, means=np.where(is_added, self.least, self.greatest)),
            replace(self, means=np.where(is_added, self.greatest, self.least)),
        )

    def is_uncertain(self) -> NDArray[np.bool_]:
        """Where more failed than may be left out without a word, evidence × temperatures."""
        return is_uncertain(self.n_failed.sum(axis=-1), self.n_runs.sum(axis=-1))

    def n_missing_pairs(self) -> Counts:
        """Records without a score among original and disturbed, perturbations × temperatures."""
        counted: Counts = (self.n_missing[:1] + self.n_missing[1:]).sum(axis=-1)
        return counted

    def of(self, chosen: NDArray[np.bool_], *, type: str | None) -> Grid:
        """The same for some of the questions."""
        picked = np.flatnonzero(chosen)
        return replace(
            self,
            type=type,
            question_ids=tuple(self.question_ids[i] for i in picked),
            types=tuple(self.types[i] for i in picked),
            means=self.means[..., picked],
            least=self.least[..., picked],
            greatest=self.greatest[..., picked],
            n_missing=self.n_missing[..., picked],
            n_failed=self.n_failed[..., picked],
            n_runs=self.n_runs[..., picked],
        )

    def by_type(self) -> list[Grid]:
        """One grid per type of question, none where questions have no types."""
        known = sorted({name for name in self.types if name is not None})
        return [self.of(np.array([own == name for own in self.types]), type=name) for name in known]

    def cell(self, *, perturbation: str | None = None, temperature: float | None = None) -> Cell:
        """Where a number of this grid belongs; None: pooled over that factor."""
        return Cell(
            dataset=self.dataset,
            system=self.system,
            variation=self.variation,
            perturbation=perturbation,
            temperature=temperature,
            group=self.type,
        )


def systems(scores: pl.DataFrame | ScoreReader, metric: str | None, number: Number = "mean") -> Iterator[Grid]:
    """One grid for each metric asked for and each system, in a fixed order, all types pooled.

    `cv` instead of `mean`: of the coefficient of variation over the runs of a question, without the bias of few runs,
    where it has two or more and a mean above 0; none of shares, and of metrics with values below 0.
    """
    reader = reading(scores)
    for name in chosen_metrics(reader, metric):
        table = reader.of(name)
        unit_of = dict(units(table).iter_rows())
        if name not in unit_of or (number == "cv" and (unit_of[name] == "share" or crossing_zero(table))):
            continue
        of_systems = fill_failed(without_bias(by_question(table)), table).partition_by(*SYSTEM)
        for of_system in sorted(of_systems, key=lambda own: str(own.select(SYSTEM).row(0))):
            yield _grid(of_system, name, unit_of[name], number)


def grids(scores: pl.DataFrame | ScoreReader, metric: str | None, number: Number = "mean") -> Iterator[Grid]:
    """As `systems`, each pooled and then by type."""
    for pooled in systems(scores, metric, number):
        yield pooled
        yield from pooled.by_type()


def chosen_metrics(scores: pl.DataFrame | ScoreReader, metric: str | None) -> tuple[str, ...]:
    """None: the main one; `all`: every one of which more is better."""
    names = list(reading(scores).metrics)
    if metric == "all":
        return tuple(name for name in names if measure_of(name).higher_is_better)
    chosen = main_metric(names, metric) if names else None
    return () if chosen is None else (chosen,)


def _grid(questions: pl.DataFrame, metric: str, unit: Unit, number: Number) -> Grid:
    dataset, model, method, retriever, variation = questions.select(SYSTEM).row(0)
    evidence = sorted(questions["perturbation"].unique(), key=lambda name: (not _is_original(name), str(name)))
    if None in evidence and UNCHANGED in evidence:  # Both mean the original; one name is enough.
        evidence.remove(None)
        questions = questions.with_columns(pl.col("perturbation").fill_null(UNCHANGED))
    temperatures = sorted(questions["temperature"].unique())
    type_of = dict(questions.select("question_id", "type").sort("question_id").iter_rows())
    ids = list(type_of)
    where = tuple(
        np.array([positions[value] for value in questions[column]], dtype=np.intp)
        for column, positions in (
            ("perturbation", {name: i for i, name in enumerate(evidence)}),
            ("temperature", {value: i for i, value in enumerate(temperatures)}),
            ("question_id", {id: i for i, id in enumerate(ids)}),
        )
    )
    shape = (len(evidence), len(temperatures), len(ids))

    def numbers(column: str) -> Numbers:
        laid_out = np.full(shape, np.nan)
        laid_out[where] = questions[column].cast(pl.Float64).fill_null(float("nan")).to_numpy()
        return laid_out

    def counts(column: str) -> Counts:
        laid_out = np.zeros(shape, dtype=np.int64)
        laid_out[where] = questions[column].to_numpy()
        return laid_out

    return Grid(
        metric=metric,
        unit=unit,
        dataset=dataset,
        system=System(model=model, method=method, retriever=retriever),
        variation=variation,
        type=None,
        evidence=tuple(evidence),
        has_original=_is_original(evidence[0]),
        temperatures=tuple(temperatures),
        question_ids=tuple(ids),
        types=tuple(type_of.values()),
        means=numbers(number),
        least=numbers("least"),
        greatest=numbers("greatest"),
        n_missing=counts("n_missing"),
        n_failed=counts("n_failed"),
        n_runs=counts("n_runs"),
    )


def _is_original(perturbation: str | None) -> bool:
    return perturbation is None or perturbation == UNCHANGED
