"""Which questions lose most when their evidence is disturbed, and how do their answers fail?"""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from shaketable.analyses.conditions import of_system
from shaketable.analyses.grids import Grid, systems
from shaketable.analyses.rows import Scored
from shaketable.analyses.tables import Tables
from shaketable.factors import UNCHANGED, judging_metric
from shaketable.types import Estimate

Tags = Mapping[str, Sequence[str]]
"""The key of a record → how it failed."""
FAILURES = ("refusal", "gibberish", "terse")
"""Metrics that name a way to fail, in the order they are told."""
WRONG = "wrong"
"""The tag of answers that are not right, and fail in none of these ways."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseRecord:
    """One answer to a question that is shown."""

    key: str
    tags: tuple[str, ...] | None
    """How it failed: by metrics of these names, or `wrong` where the metric that judges is 0 and none of the others
    applies; empty: it did not. None: none of these metrics was scored."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LargestDrop(Scored):
    """The question that one disturbance takes most of, at one temperature."""

    question_id: str
    """Of equal drops the smallest id."""
    drop: Estimate
    """Original minus disturbed of this question, which has no interval; its n are the questions it is the extreme of.
    """
    original: float
    """Mean over runs."""
    disturbed: float
    """Mean over runs."""
    noise: float | None = None
    """The largest difference between two sets of repeats that chance alone brings among so many questions, in 95 of 100
    such searches; None: not known, as single runs above temperature 0 tell nothing of it."""
    original_records: tuple[CaseRecord, ...]
    disturbed_records: tuple[CaseRecord, ...]

    @property
    def is_beyond_noise(self) -> bool:
        """Whether repeats of the original evidence alone hardly differ so much."""
        return self.noise is not None and (self.drop.value or 0.0) > self.noise


@dataclass(frozen=True, kw_only=True, slots=True)
class Cases:
    """Which questions lose most when their evidence is disturbed, and how do their answers fail?"""

    drops: tuple[LargestDrop, ...]
    """For each system, type and disturbance that has scores of both."""
    has_tags: bool
    """Whether any metric that names a way to fail, or judges, was scored."""


def cases(tables: Tables, *, metric: str | None = None, cool: float = 0.6, hot: float | None = None) -> Cases:
    """For each system, type and perturbation the question with the largest drop, at a cool and a hot temperature.

    The temperatures are those nearest to `cool` and `hot`; a hot of None is the hottest.
    """
    untagged = [
        drop
        for system in systems(tables.score_reader, metric or tables.metric())
        if system.perturbations
        for drop in _largest_drops(system, _cool_and_hot(system, cool, hot), tables)
    ]
    shown = {record.key for drop in untagged for record in (*drop.original_records, *drop.disturbed_records)}
    tags = _tags(tables, shown)
    return Cases(drops=tuple(_tagged(drop, tags) for drop in untagged), has_tags=tags is not None)


def _cool_and_hot(grid: Grid, cool: float, hot: float | None) -> list[float]:
    def nearest(wanted: float) -> float:
        return min(grid.temperatures, key=lambda temperature: (round(abs(temperature - wanted), 9), temperature))

    return sorted({nearest(cool), nearest(grid.temperatures[-1] if hot is None else hot)})


def _largest_drops(system: Grid, temperatures: Sequence[float], tables: Tables) -> Iterator[LargestDrop]:
    """Without the tags of their records."""
    records = tables.of_metric(system.metric).filter(
        *of_system(system.cell()), pl.col("temperature").is_in(temperatures)
    )
    for grid in system.by_type() or [system]:
        drops, n_missing = grid.drops(), grid.n_missing_pairs()
        for j in map(grid.temperatures.index, temperatures):
            for i, perturbation in enumerate(grid.perturbations):
                n = int((~np.isnan(drops[i, j])).sum())
                if not n:
                    continue
                largest = int(np.nanargmax(drops[i, j]))  # The first of equals, and ids ascend.
                id, temperature = grid.question_ids[largest], grid.temperatures[j]
                asked = records.filter(question_id=id, temperature=temperature).sort("repeat")
                is_original = pl.col("perturbation").fill_null(UNCHANGED) == UNCHANGED
                clean = records.filter(is_original, temperature=temperature)
                yield LargestDrop(
                    cell=grid.cell(perturbation=perturbation, temperature=temperature),
                    metric=grid.metric,
                    question_id=id,
                    drop=tables.bootstrap.estimate(float(drops[i, j, largest]), np.nan, np.nan, n=n, unit=grid.unit),
                    original=float(grid.means[0, j, largest]),
                    disturbed=float(grid.means[1 + i, j, largest]),
                    noise=_noise(clean, asked.filter(is_original), asked.filter(perturbation=perturbation), n),
                    n_missing=int(n_missing[i, j]),
                    original_records=_case_records(asked.filter(is_original)),
                    disturbed_records=_case_records(asked.filter(perturbation=perturbation)),
                )


def _noise(clean: pl.DataFrame, before: pl.DataFrame, after: pl.DataFrame, n: int) -> float | None:
    """By the variance between the runs of a question: on average over all, or of this one where that is larger."""
    between_runs = pl.col("value").var(ddof=1)
    n_runs = [own["value"].count() for own in (before, after)]
    if max(clean.group_by("question_id").agg(pl.col("value").count())["value"], default=0) < 2:
        return 0.0 if clean["temperature"].max() == 0 else None
    average = clean.group_by("question_id").agg(between_runs)["value"].mean()
    own = pl.Series([side.select(between_runs).item() for side in (before, after)], dtype=pl.Float64).mean()
    variance = max(value for value in (average, own, 0.0) if isinstance(value, float))
    z = statistics.NormalDist().inv_cdf(1 - 0.05 / n)
    return z * math.sqrt(variance * sum(1 / runs for runs in n_runs if runs))


def _case_records(records: pl.DataFrame) -> tuple[CaseRecord, ...]:
    return tuple(CaseRecord(key=key, tags=None) for key in records["key"].to_list())


def _tagged(drop: LargestDrop, tags: Tags | None) -> LargestDrop:
    if tags is None:
        return drop
    original, disturbed = (
        tuple(replace(record, tags=tuple(tags.get(record.key, ()))) for record in records)
        for records in (drop.original_records, drop.disturbed_records)
    )
    return replace(drop, original_records=original, disturbed_records=disturbed)


def _tags(tables: Tables, keys: Collection[str]) -> Tags | None:
    """How each of these records failed; one that did not fail, or could not be judged, is not among them."""
    correct = judging_metric(tables.metrics)
    if not any(name in tables.metrics for name in (*FAILURES, correct)):
        return None
    tags: dict[str, list[str]] = {}
    for name in FAILURES:
        for key in _keys_with(tables.of_metric(name), 1, keys):
            tags.setdefault(key, []).append(name)
    for key in _keys_with(tables.of_metric(correct), 0, keys):
        tags.setdefault(key, [WRONG])
    return tags


def _keys_with(scores: pl.DataFrame, value: float, keys: Collection[str]) -> list[str]:
    return scores.filter(pl.col("key").is_in(list(keys)), value=value)["key"].to_list()
