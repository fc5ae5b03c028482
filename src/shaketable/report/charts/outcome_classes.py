"""Bars that sum to one, for each name on the axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt

from shaketable.report.charts.layout import Picture, in_panels, panel_width
from shaketable.report.charts.marks import Mark, Titles, names_in


def stacked_bars(marks: Sequence[Mark], titles: Titles, colors: Mapping[str, str]) -> Picture:
    order = "indexof([" + ", ".join(f"'{name}'" for name in colors) + "], datum.series)"
    layers = (
        alt.Chart()
        .transform_calculate(place=order)
        .mark_bar(stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X(
                "value:Q", stack="zero", title=titles.value, axis=alt.Axis(format="~%"), scale=alt.Scale(domain=[0, 1])
            ),
            y=alt.Y(
                "x:N",
                title=None,
                sort=names_in(str(mark.x) for mark in marks),
                axis=alt.Axis(ticks=False, labelLimit=260),
            ),
            color=alt.Color(
                "series:N",
                title=titles.series,
                sort=None,
                scale=alt.Scale(domain=list(colors), range=list(colors.values())),
                legend=alt.Legend(symbolSize=90, labelLimit=400),
            ),
            order=alt.Order("place:Q"),
        )
    )
    width = panel_width(marks, beside=160)
    return in_panels(layers.properties(height=alt.Step(22)), marks, width=width, row_names="top")
