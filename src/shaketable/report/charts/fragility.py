"""Single facts against temperature, as lines: the estimate of a correct answer, its interval, and certified bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt

from shaketable.report.charts.guides import Guide
from shaketable.report.charts.layout import Axis
from shaketable.report.charts.lines import LineStyle, lines
from shaketable.report.charts.looks import WIDTH, Look
from shaketable.report.charts.marks import Mark, Titles

BLUE = Look("#0072B2", (1, 0), "circle")
TITLES = Titles(panel="Fact", at_least="At least", at_most="At most", value="Estimate", n="")


def fragility(
    marks: Sequence[Mark], breaks: Mapping[str, float], *, wrap: int = 3, width: int = WIDTH
) -> alt.TopLevelMixin:
    """A panel for each fact; `breaks` has the breaking temperatures of those that have one."""
    guides = [
        Guide(kind="half", at=0.5),
        *(Guide(kind="break", at=temperature, panel=fact) for fact, temperature in breaks.items()),
    ]
    style = LineStyle(x="span", has_points=False, wrap=wrap, height=150, width=width)
    axis = Axis(title="P(correct)", n_ticks=4)
    return lines(marks, TITLES, looks={"": BLUE}, axis=axis, guides=guides, style=style)
