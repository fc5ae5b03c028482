"""Values of results by where they belong: those that differ in some factors alone stand together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, TypeVar

from shaketable.analyses.rows import Located, Measured
from shaketable.factors import Cell

Pooled = Literal["variation", "perturbation", "temperature", "group"]


SomeLocated = TypeVar("SomeLocated", bound=Located)
SomeMeasured = TypeVar("SomeMeasured", bound=Measured)


def group_by_cell(values: Iterable[SomeLocated], *pooled: Pooled) -> dict[Cell, list[SomeLocated]]:
    """The values of one cell together, whatever these factors are, in the order in which cells come first."""
    groups: dict[Cell, list[SomeLocated]] = {}
    for value in values:
        groups.setdefault(_without(value.cell, pooled), []).append(value)
    return groups


def group_by_metric(values: Iterable[SomeMeasured], *pooled: Pooled) -> list[list[SomeMeasured]]:
    """The same, each metric by itself."""
    groups: dict[tuple[str, Cell], list[SomeMeasured]] = {}
    for value in values:
        groups.setdefault((value.metric, _without(value.cell, pooled)), []).append(value)
    return list(groups.values())


def group_by_system(values: Iterable[SomeLocated]) -> list[list[SomeLocated]]:
    """The values of one system, dataset and temperature together, whatever the wording."""
    return list(group_by_cell(values, "variation").values())


def group_lines(values: Iterable[SomeMeasured]) -> list[list[SomeMeasured]]:
    """Those of one disturbance at all temperatures together."""
    return group_by_metric(values, "temperature")


def _without(cell: Cell, pooled: Iterable[Pooled]) -> Cell:
    for factor in pooled:
        cell = replace(cell, **{factor: None})
    return cell
