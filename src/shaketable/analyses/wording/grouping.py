"""Values of wordings by what was asked: a system, a dataset, a temperature."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol, TypeVar

from shaketable.factors import Cell


class Located(Protocol):
    @property
    def cell(self) -> Cell: ...


SomeLocated = TypeVar("SomeLocated", bound=Located)


def group_by_system(values: Iterable[SomeLocated]) -> list[list[SomeLocated]]:
    """The values of one system, dataset and temperature together, whatever the wording."""
    groups: dict[Cell, list[SomeLocated]] = {}
    for value in values:
        groups.setdefault(replace(value.cell, variation=None), []).append(value)
    return list(groups.values())
