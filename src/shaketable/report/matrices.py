"""Disturbance × temperature, of all questions and, folded, by type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shaketable.factors import Cell, word_for
from shaketable.report.section import NOTHING, Matrix, MatrixCell, Page
from shaketable.report.tables import name_place
from shaketable.report.words import name_part


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One disturbance of one system."""

    cell: Cell
    """Of any temperature."""
    metric: str
    cells: Mapping[float | None, MatrixCell]
    """By temperature."""
    last: MatrixCell = NOTHING
    """Of the whole line."""


def make_matrices(lines: Sequence[Line], page: Page, *, last: str = "") -> tuple[Matrix, ...]:
    """`last` is the title of the column of whole lines; empty: there is none."""
    pooled = [line for line in lines if line.cell.group is None]
    typed = [line for line in lines if line.cell.group is not None]
    matrices = [_matrix(pooled, page, last, "")] if pooled else []
    return (*matrices, *([_matrix(typed, page, last, "By type of question")] if typed else []))


def _matrix(lines: Sequence[Line], page: Page, last: str, title: str) -> Matrix:
    temperatures = sorted({temperature for line in lines for temperature in line.cells if temperature is not None})
    groups: dict[str, list[tuple[str, tuple[MatrixCell, ...]]]] = {}
    for line in lines:
        cells = [line.cells.get(temperature, NOTHING) for temperature in temperatures] + ([line.last] if last else [])
        named = (name_part(line.cell.perturbation or "no evidence"), tuple(cells))
        groups.setdefault(f"{name_place(line.cell, page)}, {word_for(line.metric)}", []).append(named)
    return Matrix(
        title=title,
        columns=(*(f"{temperature:g}" for temperature in temperatures), *([last] if last else [])),
        groups=tuple((name, tuple(rows)) for name, rows in groups.items()),
        is_folded=bool(title),
    )
