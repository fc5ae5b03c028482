"""Which systems are at chance level, or not confirmed to be above it: the absence of a drop says nothing there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import polars as pl

from shaketable.analyses.grids import Grid, chosen_metrics, systems
from shaketable.analyses.tables import Tables
from shaketable.factors import ORIGINAL, UNCHANGED, Cell, System, measure_of
from shaketable.statistics.intervals import ROUNDING, Bootstrap, Numbers, sign_shown
from shaketable.types import Findings, Floor, NothingToLose

Against = Literal["shuffled answers", "closed book", "nothing right"]
N_LEAST = 8
"""Below so many questions nothing is claimed."""
NEAR = 0.15
"""A baseline is near chance level where its whole interval lies within this part of the way up to the best score."""
CLOSED_BOOK = "closed_book"
"""The method that answers without evidence."""


def find_nothing_to_lose(tables: Tables) -> tuple[NothingToLose, ...]:
    """Return systems not above chance level, pooled and by type of question, for each number of which more is better.

    Questions that were asked at the lowest temperature alone, as unknown facts are, do not count: nothing is compared
    with them. Chance level is a clean answer to another question at the coolest temperature, scored against this one.
    Where those were not scored, nothing is right by chance: 0 for shares; other scores have no baseline. A system that
    searches is compared with closed-book answers of its model too.
    """
    return tuple(
        entry for metric in chosen_metrics(tables.score_reader, "all") for entry in _entries_of(metric, tables)
    )


def _entries_of(metric: str, tables: Tables) -> Iterator[NothingToLose]:
    scores = _undisturbed(tables.of_metric(metric))
    if scores.is_empty():
        return
    clean = list(systems(scores, metric))
    baselines = _with_baselines(scores, tables.baselines)
    shuffled = {_place(grid): grid for grid in ([] if baselines.is_empty() else systems(baselines, metric))}
    closed = _closed_book(clean, tables)
    for pooled in clean:
        own = _compared(pooled)
        for grid in (own, *own.by_type()):
            yield from _entries(grid, shuffled.get(_place(grid)), closed, tables.bootstrap)


def find_floors(tables: Tables) -> tuple[Floor, ...]:
    """Return the floor of every continuous metric by system, where answers to other questions were scored."""
    return tuple(
        Floor(
            dataset=grid.dataset,
            model=grid.system.model,
            method=grid.system.method,
            retriever=grid.system.retriever,
            variation=grid.variation,
            metric=metric,
            score=tables.bootstrap.means(grid.means[0, :1], grid.question_ids, unit=grid.unit)[0],
        )
        for metric in chosen_metrics(tables.score_reader, "all")
        if not (scores := _with_baselines(_undisturbed(tables.of_metric(metric)), tables.baselines)).is_empty()
        for grid in systems(scores, metric)
        if grid.unit == "score"
    )


def _compared(grid: Grid) -> Grid:
    """The questions asked at other temperatures than the lowest too, where only some were."""
    is_compared = grid.n_asked[0, 1:].sum(axis=0) > 0
    return grid.of(is_compared, type=grid.type) if is_compared.any() else grid


def has_nothing_to_lose(cell: Cell, findings: Findings, metric: str, *, is_of_evidence: bool | None = None) -> bool:
    """Whether it means nothing that a number does not fall there."""
    return nothing_to_lose_at(cell, findings, metric, is_of_evidence=is_of_evidence) is not None


def nothing_to_lose_at(
    cell: Cell, findings: Findings, metric: str, *, is_of_evidence: bool | None = None
) -> NothingToLose | None:
    """None: there is something to lose.

    Wordings are compared with the original, so the original's clean case counts for all. Where heat has ruined the
    clean case, neither evidence nor wording can take more. Closed-book answers are a baseline of evidence alone;
    `is_of_evidence` of None: where the cell is of disturbed evidence.
    """
    of_evidence = not cell.is_undisturbed if is_of_evidence is None else is_of_evidence
    is_heat_itself = cell.is_undisturbed and cell.variation in (None, ORIGINAL)
    ruined_at = None if is_heat_itself else cell.temperature
    here = (
        entry
        for entry in findings.nothing_to_lose
        if (entry.metric, entry.dataset) == (metric, cell.dataset)
        and cell_of(entry).system == cell.system
        and entry.variation in (ORIGINAL, cell.variation)
        and entry.group in (None, cell.group)
        and entry.temperature in (None, ruined_at)
        and (of_evidence or entry.against != "closed book")
    )
    return next(here, None)


def cell_of(entry: NothingToLose) -> Cell:
    """Where it belongs, pooled over evidence and temperatures."""
    return Cell(
        dataset=entry.dataset,
        system=System(model=entry.model, method=entry.method, retriever=entry.retriever),
        variation=entry.variation,
        group=entry.group,
    )


def _undisturbed(scores: pl.DataFrame) -> pl.DataFrame:
    return scores.filter(pl.col("perturbation").is_null() | (pl.col("perturbation") == UNCHANGED))


def _with_baselines(scores: pl.DataFrame, baselines: pl.DataFrame) -> pl.DataFrame:
    """The same with the baseline instead of the value, where there is one."""
    if baselines.is_empty():
        return scores.clear()
    values = baselines.select("key", "metric", "value").drop_nulls("value")
    return scores.drop("value").join(values, on=["key", "metric"])


def _place(grid: Grid) -> tuple[str, str, System, str]:
    return grid.metric, grid.dataset, grid.system, grid.variation


def _closed_book(clean: Sequence[Grid], tables: Tables) -> Mapping[tuple[str, str, str, str], Sequence[Grid]]:
    """By metric, dataset, model and wording; a study may ask in several forms."""
    grids: dict[tuple[str, str, str, str], list[Grid]] = {}
    for grid in clean:
        if tables.method_of(grid.system).partition("(")[0] == CLOSED_BOOK:
            grids.setdefault(_without_method(grid), []).append(grid)
    return grids


def _without_method(grid: Grid) -> tuple[str, str, str, str]:
    return grid.metric, grid.dataset, grid.system.model, grid.variation


def _entries(
    grid: Grid,
    shuffled: Grid | None,
    closed: Mapping[tuple[str, str, str, str], Sequence[Grid]],
    bootstrap: Bootstrap,
) -> list[NothingToLose]:
    """With the first baseline that the clean case is not shown to be above; heat alone brings it down to chance."""
    by_chance: list[NothingToLose] = []
    if shuffled is not None:
        by_chance = _compare(grid, _values(shuffled, grid.question_ids), "shuffled answers", bootstrap)
    elif grid.unit == "share":
        by_chance = _compare(grid, np.zeros(len(grid.question_ids)), "nothing right", bootstrap)
    unaided = closed.get(_without_method(grid)) if grid.system.retriever is not None else None
    if unaided and not any(entry.temperature is None for entry in by_chance):
        without = np.mean([_values(own, grid.question_ids) for own in unaided], axis=0)
        coolest = replace(grid, temperatures=grid.temperatures[:1], means=grid.means[:, :1])
        by_chance += _compare(coolest, without, "closed book", bootstrap)
    return by_chance


def _values(grid: Grid, question_ids: Sequence[str]) -> Numbers:
    value_of = dict(zip(grid.question_ids, grid.means[0, 0], strict=True))
    return np.array([value_of.get(id, np.nan) for id in question_ids])


def _compare(grid: Grid, baseline: Numbers, against: Against, bootstrap: Bootstrap) -> list[NothingToLose]:
    """At the coolest temperature, else at those hotter ones where the clean case is not shown to be above; none where
    too few questions have both."""
    levels = grid.means[0]
    gains = np.round(levels - baseline, ROUNDING)
    values, n = np.concatenate([levels, gains, baseline[None]]), len(grid.temperatures)
    kinds = [False] * n + [True] * n + [False]
    estimates = bootstrap.means(values, grid.question_ids, unit=grid.unit, is_difference=kinds)
    floor = estimates[-1]
    if against == "nothing right":  # It is 0 by definition, whatever the questions are.
        floor = replace(floor, low=0.0, high=0.0, how=against)
    # Nothing lies below nothing right, so that the level alone tells.
    shown = estimates[:n] if against == "nothing right" else estimates[n : 2 * n]
    best = 1.0 if grid.unit == "share" else measure_of(grid.metric).maximum
    near = 0.0 if best is None or floor.value is None else NEAR * (best - floor.value)
    ruined = [i for i, gain in enumerate(shown) if gain.n >= N_LEAST and sign_shown(gain) <= 0]
    return [
        NothingToLose(
            dataset=grid.dataset,
            model=grid.system.model,
            method=grid.system.method,
            retriever=grid.system.retriever,
            variation=grid.variation,
            metric=grid.metric,
            group=grid.type,
            temperature=None if i == 0 else grid.temperatures[i],
            level=estimates[i],
            baseline=floor,
            against=against,
            is_confirmed=(high := shown[i].high) is not None and high <= near,
        )
        for i in (ruined[:1] if ruined[:1] == [0] else ruined)
    ]
