"""The surface of a study that crosses wording, evidence and temperature: how good the answers are in every setting."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from shaketable.analyses.evidence.correctness import Correctness, Level
from shaketable.factors import ORIGINAL, UNCHANGED, title_of, word_for
from shaketable.report.charts.layout import Axis
from shaketable.report.charts.marks import Mark, Titles
from shaketable.report.charts.surface import surface
from shaketable.report.evidence_marks import make_mark
from shaketable.report.notes import describe_intervals
from shaketable.report.section import Figure, Page
from shaketable.report.wording_words import name_way
from shaketable.report.words import format_level

TITLES = Titles(row="Asked", y="Evidence")


def make_surface(result: Correctness, page: Page) -> Figure | None:
    """Of the main metric, where wordings and temperatures are crossed; with one of either, other figures show all."""
    known = [
        level
        for level in result.levels
        if level.metric == result.metric and level.cell.group is None and level.mean.value is not None
    ]
    searching = [level for level in known if level.cell.perturbation is not None]
    levels = {_mark(level, page): level for level in searching or known}
    marks = tuple(sorted(levels, key=lambda mark: (mark.panel, mark.row != ORIGINAL, mark.row, mark.y != UNCHANGED)))
    if min(len({mark.row for mark in marks}), len({mark.x for mark in marks})) < 2:
        return None
    metric, is_of_several = result.metric or "", len({mark.panel for mark in marks}) > 1
    highest, lowest = (
        f"{format_level(levels[mark].mean)} ({f'{mark.panel}, ' if is_of_several else ''}{mark.row} wording, "
        f"{mark.y}, temperature {mark.x:g})"
        for mark in (pick(marks, key=lambda mark: mark.value or 0.0) for pick in (max, min))
    )
    return Figure(
        chapter="together",
        name="correctness_surface",
        title=f"The surface: {word_for(metric)} by wording, evidence and temperature",
        caption=f"It runs from {highest} down to {lowest}.",
        note=f"Each box is the mean over questions in one setting. {describe_intervals(marks, page)}",
        marks=marks,
        titles=TITLES,
        draw=partial(surface, marks, TITLES, axis=Axis(title=title_of(metric))),
    )


def _mark(level: Level, page: Page) -> Mark:
    mark = make_mark(level.cell, level.mean, level.n_missing, page)
    panel = page.labels.name(level.cell, "dataset")
    return replace(mark, y=mark.series, series="", panel=panel, row=name_way(level.cell.variation), n_missing=None)
