"""A figure → its picture in every form: SVG and an interactive one for the page, PNG and CSV as files."""

from __future__ import annotations

import csv
import functools
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from markupsafe import Markup

from shaketable.report.charts.drawing import draw_png, draw_svg
from shaketable.report.charts.interactive import interactive
from shaketable.report.charts.marks import Mark
from shaketable.report.section import Figure, Table
from shaketable.report.words import Entry, format_entry
from shaketable.text.whole_file import write_whole
from shaketable.types import Json

NUMBERS = ("value", "low", "high", "at_least", "at_most")
"""Fields in the unit of a mark."""
N_SHOWN = 400
"""Rows of a table of marks on the page."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawing:
    figure: Figure
    svg: Markup
    """As it is printed, and shown where scripts are off."""
    spec: Mapping[str, Json]
    """The same for the page: it answers to the pointer."""
    draw_png: Callable[[], bytes]
    """Makes the file, which the page does not need."""
    table: Table
    csv: str


def draw_figures(figures: Iterable[Figure]) -> list[Drawing]:
    """Those with a value to draw: where nothing could be estimated there is no picture."""
    return [draw_figure(figure) for figure in figures if any(mark.value is not None for mark in figure.marks)]


def draw_figure(figure: Figure) -> Drawing:
    if figure.table is None and len(figure.marks) > N_SHOWN:
        shown = f"The table shows the first {N_SHOWN} rows, the CSV all."
        figure = replace(figure, note=f"{figure.note} {shown}", table=_table(figure, figure.marks[:N_SHOWN]))
    chart = figure.draw()
    live = figure.draw_live() if figure.draw_live else chart
    columns = figure.titles.columns()
    return Drawing(
        figure=figure,
        svg=Markup(draw_svg(chart, figure.name)),
        spec=interactive(live, columns),
        draw_png=functools.partial(draw_png, chart),
        table=figure.table or _table(figure, figure.marks),
        csv=_csv(figure),
    )


def write_drawings(drawings: Sequence[Drawing], folder: Path) -> None:
    """Each as SVG, PNG and CSV."""
    folder.mkdir(parents=True, exist_ok=True)
    for drawing in drawings:
        name = drawing.figure.name
        write_whole(folder / f"{name}.svg", drawing.svg)
        write_whole(folder / f"{name}.png", drawing.draw_png())
        write_whole(folder / f"{name}.csv", drawing.csv)


def _table(figure: Figure, marks: Sequence[Mark]) -> Table:
    columns = figure.titles.columns()
    return Table(
        columns=tuple(columns.values()),
        rows=tuple(tuple(_entry(mark, name) for name in columns) for mark in marks),
    )


def _csv(figure: Figure) -> str:
    """All marks in full precision, under the titles that the table on the page has."""
    columns = figure.titles.columns()
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns.values())
    writer.writerows([getattr(mark, name) for name in columns] for mark in figure.marks)
    return text.getvalue()


def _entry(mark: Mark, name: str) -> Entry:
    value: Entry = getattr(mark, name)
    return format_entry(value, mark.unit) if name in NUMBERS and value is not None else value
