"""Differences of two systems as forest plots: in all and by level, by condition; and how answers flip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from shaketable.analyses.changes import Change
from shaketable.analyses.compared import Compared, Comparisons
from shaketable.analyses.comparing import Comparison
from shaketable.analyses.flips import Flips
from shaketable.factors import title_of, word_for
from shaketable.report.charts.few import few
from shaketable.report.charts.forest import ForestStyle, forest, sliding_forest
from shaketable.report.charts.layout import Axis
from shaketable.report.charts.looks import INK, Look
from shaketable.report.charts.marks import Mark, Titles
from shaketable.report.comparison_words import describe_flips, describe_verdict, name_condition, name_level, verdict_of
from shaketable.report.section import Figure
from shaketable.report.words import count_questions

VERDICTS = {
    "▲ better": ("shown to be better", Look("#009E73", (1, 0), "triangle-up")),
    "▼ worse": ("shown to be worse", Look("#D55E00", (7, 2), "triangle-down")),
    "◆ other": ("shown to differ", Look("#0072B2", (3, 2), "diamond")),
    "○ not shown": ("not shown", Look(INK, (1, 2), "circle")),
}
"""Verdict of a table → its name in a legend, and its look."""
N_PANELS = 4
"""Temperatures side by side; more get a slider."""


def make_figures(compared: Compared, told: Comparisons, name: str) -> list[Figure]:
    """`name` tells the figures of one pair of systems from those of others."""
    figures = [_draw_differences(compared, told, name)]
    if compared.comparison.conditions:
        figures.append(_draw_conditions(compared, told, name))
    return figures


def name_change(change: Change) -> str:
    """`all questions`, `temperature 1`, `worst condition of each question`."""
    if change.kind == "level":
        return name_level(change.cell)
    return "worst condition of each question" if change.kind == "worst case" else "all questions"


# --- pictures -------------------------------------------------------------------------------------


def _draw_differences(compared: Compared, told: Comparisons, name: str) -> Figure:
    comparison = compared.comparison
    marks = tuple(
        Mark.of(change.difference, x=name_change(change), series=_verdict(change, compared, told))
        for change in comparison.spoken_of
    )
    titles = replace(_titles(compared), series="Verdict")
    used = {mark.series for mark in marks}
    looks = {series: look for series, look in VERDICTS.values() if series in used}
    return Figure(
        name=f"forest{name}",
        title=f"{title_of(comparison.metric)}: {_names(compared)}",
        caption=describe_verdict(compared, told),
        note=f"{_direction(compared)} Bars are {100 * told.confidence:g} % confidence intervals of each line by "
        f"itself; verdicts are adjusted for all of them. {_count(marks)}",
        marks=marks,
        titles=titles,
        draw=partial(forest, marks, titles, looks=looks, axis=_axis(compared), style=ForestStyle(has_zero_line=True)),
    )


def _verdict(change: Change, compared: Compared, told: Comparisons) -> str:
    return VERDICTS[verdict_of(change, compared, told) or "○ not shown"][0]


def _draw_conditions(compared: Compared, told: Comparisons, name: str) -> Figure:
    """What was observed in each condition, with its own interval."""
    marks = _condition_marks(compared.comparison)
    tried = sorted({mark.temperature or 0.0 for mark in marks if mark.panel})
    titles = replace(_titles(compared), x="Condition", temperature="Temperature" if tried else "")
    style, axis = ForestStyle(has_zero_line=True, step=22), _axis(compared)
    shown = [mark for mark in marks if not tried or mark.temperature in few(tried, N_PANELS)]
    return Figure(
        name=f"conditions{name}",
        title=f"Condition by condition: {_names(compared)}",
        caption="The observed difference in each condition, to look into: nothing is claimed of a single condition.",
        note=f"{_direction(compared)} Bars are {100 * told.confidence:g} % confidence intervals of each condition by "
        f"itself, not adjusted for how many there are: the largest of several is too large. {_count(marks)}",
        marks=marks,
        titles=titles,
        draw=partial(forest, shown, titles, axis=axis, style=style),
        draw_live=partial(sliding_forest, marks, titles, axis=axis, style=style) if len(tried) > N_PANELS else None,
    )


def _condition_marks(comparison: Comparison) -> tuple[Mark, ...]:
    """A panel for each temperature, where there are several and something else differs too."""
    temperatures = {change.cell.temperature for change in comparison.conditions}
    has_panels = 1 < len(temperatures) < len(comparison.conditions)
    marks = []
    for change in comparison.conditions:
        cell = replace(change.cell, temperature=None) if has_panels else change.cell
        mark = Mark.of(
            change.difference,
            x=name_condition(cell, comparison),
            panel=f"temperature {change.cell.temperature or 0.0:g}" if has_panels else "",
            temperature=change.cell.temperature,
        )
        marks.append(mark)
    return tuple(sorted(marks, key=lambda mark: mark.temperature or 0.0) if has_panels else marks)


def draw_flips(compared: Compared, flips: Flips, name: str) -> Figure:
    counted = [
        (f"right with {compared.first.name}, wrong with {compared.second.name}", flips.lost),
        (f"wrong with {compared.first.name}, right with {compared.second.name}", flips.gained),
        *([("either way, between two runs of the same system", flips.noise)] if flips.noise else []),
    ]
    marks = tuple(Mark.of(share, x=words) for words, share in counted)
    titles = Titles(panel="", x="Answers", value="Share of answers")
    style, axis = ForestStyle(has_numbers=True, step=34), Axis(domain=(0.0, 1.0))
    return Figure(
        name=f"flipped{name}",
        title=f"Answers that flip: {_names(compared)}",
        caption=describe_flips(compared),
        note=f"Told by {word_for(flips.metric)}, of one run of each system drawn at random. {_count(marks)}",
        marks=marks,
        titles=titles,
        draw=partial(forest, marks, titles, axis=axis, style=style),
    )


# --- what they share ------------------------------------------------------------------------------


def _titles(compared: Compared) -> Titles:
    unit = " (points)" if compared.comparison.overall.difference.unit == "share" else ""
    what = word_for(compared.comparison.metric)
    return Titles(panel="", x="Where", value=f"Difference in {what}{unit}", low="Low", high="High")


def _axis(compared: Compared) -> Axis:
    is_share = compared.comparison.overall.difference.unit == "share"
    return Axis(numbers="points" if is_share else None)


def _names(compared: Compared) -> str:
    return f"{compared.first.name} → {compared.second.name}"


def _direction(compared: Compared) -> str:
    what = word_for(compared.comparison.metric)
    return (
        f"{compared.second.name} minus {compared.first.name}, paired by question: right of the line "
        f"{compared.second.name} has more {what}."
    )


def _count(marks: Sequence[Mark]) -> str:
    """`n = 24 questions.`, or the range of them."""
    counts = sorted({mark.n or 0 for mark in marks})
    return f"{count_questions(counts[0], counts[-1])}."
