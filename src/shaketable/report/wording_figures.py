"""Numbers of wordings → marks and figures: a line per way of asking, a panel per dataset, a row per system."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import altair as alt

from shaketable.analyses.wording.numbers import WordingNumber
from shaketable.factors import Cell
from shaketable.report.charts.marks import Mark, Titles
from shaketable.report.section import Figure, Page
from shaketable.report.wording_words import name_dataset, name_system, name_way, order_of_way
from shaketable.report.words import count_questions
from shaketable.types import Estimate

Draw = Callable[[Sequence[Mark], Titles], alt.TopLevelMixin]


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawn:
    """A number that is drawn, and how the picture names what stands around it."""

    cell: Cell
    estimate: Estimate
    way: str
    number: str
    """What the picture calls the metric."""
    panel: str
    """The dataset, and the temperature where there are several."""
    system: str
    hop: int | None = None


def choose_drawn(numbers: Iterable[WordingNumber], names: Mapping[str, str], page: Page) -> list[Drawn]:
    """The means of these metrics that have a value, in the order of panels, systems, ways of asking and metrics."""
    chosen = [
        number
        for number in numbers
        if number.metric in names and number.estimate.value is not None and not (number.is_loss or number.answered_only)
    ]
    several = len({number.cell.temperature for number in chosen}) > 1
    order = list(names)
    chosen.sort(key=lambda number: (order_of_way(number.cell.variation), order.index(number.metric), number.hop or 0))
    drawn = [
        Drawn(
            cell=number.cell,
            estimate=number.estimate,
            way=name_way(number.cell.variation),
            number=names[number.metric],
            panel=name_panel(number.cell, with_temperature=several),
            system=name_system(number.cell, page),
            hop=number.hop,
        )
        for number in chosen
    ]
    return sorted(drawn, key=lambda point: (point.panel, point.system))


def name_panel(cell: Cell, *, with_temperature: bool) -> str:
    return f"{name_dataset(cell)} · temperature {cell.temperature:g}" if with_temperature else name_dataset(cell)


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What a figure is called, and how it is drawn."""

    name: str
    title: str
    note: str
    """How to read it."""
    titles: Titles
    draw: Draw


def make_figures(plan: Plan, marks: Sequence[Mark], page: Page) -> tuple[Figure, ...]:
    """One; none where there is nothing to draw."""
    if not marks:
        return ()
    counts = sorted({mark.n for mark in marks if mark.n is not None})
    return (
        Figure(
            name=plan.name,
            title=plan.title,
            note=f"{plan.note} Bars and bands are {100 * page.bootstrap.confidence:g} % confidence intervals. "
            f"{count_questions(counts[0], counts[-1])}.",
            marks=tuple(marks),
            titles=plan.titles,
            draw=lambda: plan.draw(marks, plan.titles),
        ),
    )


def compare_ways(
    plan: Plan, numbers: Iterable[WordingNumber], names: Mapping[str, str], page: Page
) -> tuple[Figure, ...]:
    """Ways of asking one below the other, a series for each of these metrics; none without two ways."""
    drawn = choose_drawn(numbers, names, page)
    marks = [
        Mark.of(point.estimate, x=point.way, series=point.number, panel=point.panel, row=point.system)
        for point in drawn
    ]
    return make_figures(plan, marks, page) if has_several_ways(drawn) else ()


def has_several_ways(drawn: Iterable[Drawn]) -> bool:
    """Whether there is something to compare."""
    return len({point.way for point in drawn}) > 1
