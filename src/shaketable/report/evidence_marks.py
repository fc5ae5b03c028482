"""What pictures of evidence and temperature share: how cells become marks, panels, rows and file names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from shaketable.analyses.rows import Measured
from shaketable.factors import Cell
from shaketable.identity import digest_text
from shaketable.report.charts.marks import Mark, Point, Titles
from shaketable.report.grouping import SomeMeasured
from shaketable.report.section import Page
from shaketable.report.words import count_questions, name_evidence
from shaketable.types import Estimate

ALL_TYPES = "all types"
NOT_APPLIED = "temperature not applied"
LONGEST_NAME = 120
"""Characters of a file name without its ending; disks take 255 bytes."""
TITLES = Titles(row="Question type", series="Evidence", n_missing="Records missing")


def name_panel(cell: Cell, page: Page) -> str:
    """A system, with a warning where temperature did not reach it."""
    system = page.name(cell)
    return system if page.is_applied(cell) else f"{system} · {NOT_APPLIED}"


def name_type(cell: Cell) -> str:
    return cell.group or ALL_TYPES


def order_type(name: str) -> tuple[bool, str]:
    """Comparison above bridge, as readers of the study know its figures; others by name."""
    return name != "comparison", name


def make_mark(cell: Cell, estimate: Estimate, n_missing: int, page: Page) -> Mark:
    """On a line over temperatures, of its evidence, in the panel of its system and the row of its type."""
    series, panel = name_evidence(cell.perturbation), name_panel(cell, page)
    mark = Mark.of(estimate, x=cell.temperature, series=series, panel=panel, row=name_type(cell))
    return replace(mark, n_missing=n_missing)


def make_spark(line: Iterable[tuple[Cell, Estimate]], *, is_difference: bool = False) -> tuple[Point, ...]:
    """The small line of a card over temperatures; what has no value is no part of it."""
    return tuple(
        Point(
            temperature=cell.temperature or 0.0,
            value=estimate.value,
            low=estimate.low,
            high=estimate.high,
            unit=estimate.unit,
            is_difference=is_difference,
        )
        for cell, estimate in line
        if estimate.value is not None
    )


def of_shown_types(values: Sequence[SomeMeasured]) -> list[SomeMeasured]:
    """Those of each type of question where there are several types, else of all questions; in the order of types."""
    by_type = len({value.cell.group for value in values} - {None}) > 1
    shown = [value for value in values if (value.cell.group is not None) == by_type]
    return sorted(shown, key=lambda value: order_type(name_type(value.cell)))


def metrics_in_order(values: Sequence[Measured], main: str | None, first: Collection[str] = ()) -> list[str]:
    """These first, then the main one, others as they come."""
    metrics = dict.fromkeys(value.metric for value in values)
    return sorted(metrics, key=lambda metric: (metric not in first, metric != main))


def name_scores(metric: str) -> str:
    """The figure of scores against temperature, also as a file: `score_by_temperature_recall_5`."""
    return _file_name("score_by_temperature", metric)


def name_drops(metric: str) -> str:
    """The figure of what disturbances cost."""
    return _file_name("evidence_drops", metric)


def name_variation(metric: str) -> str:
    """The figure of how much repeated answers differ."""
    return _file_name("variation_by_temperature", metric)


def _file_name(stem: str, metric: str) -> str:
    return shorten_name(f"{stem}_{re.sub(r'[^A-Za-z0-9]+', '_', metric)}")


def shorten_name(name: str) -> str:
    """A name that any disk takes as a file's: of a long one the beginning, and what tells it from others."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 9]}_{digest_text(name)[:8]}"


def count_behind(marks: Sequence[Mark]) -> str:
    """`n = 24 questions`, or `n = 20 to 24 questions`."""
    counts = sorted({mark.n or 0 for mark in marks})
    return count_questions(counts[0], counts[-1])


def describe_counts(marks: Sequence[Mark]) -> str:
    return f"{count_behind(marks)} behind each point."


def name_intervals(page: Page) -> str:
    """`95 % confidence intervals over questions`."""
    return f"{100 * page.bootstrap.confidence:g} % confidence intervals over questions"
