"""Boxes with points: how the values of single questions are spread in each series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt

from shaketable.report.charts.layout import Axis, Picture, channels, in_panels, panel_width
from shaketable.report.charts.looks import INK, LETTER, Look, write_names
from shaketable.report.charts.marks import Mark, Titles, drawable, names_in

FEW = 6
"""Series whose names fit below their boxes."""
JITTER = "(datum.i * 0.618034) % 1"
"""Multiples of the golden ratio, less their whole part, spread points evenly whatever their number."""
OUTLIER = "abs(datum.value - (datum.q1 + datum.q3) / 2) > 2 * (datum.q3 - datum.q1)"


def boxes(
    marks: Sequence[Mark],
    titles: Titles,
    *,
    looks: Mapping[str, Look] | None = None,
    axis: Axis | None = None,
) -> Picture:
    """A mark per question: boxes from quartile to quartile, whiskers to 1.5 times their distance, outliers ringed.

        marks = [Mark(value=0.7, series="typos", panel="temperature 0.6", temperature=0.6, label="q17")]
        titles = Titles(series="Evidence", panel="", temperature="Temperature", label="Question", value="bertscore")
        boxes(marks, titles, looks=evidence_looks(mark.series for mark in marks))

    Series are named below their boxes, in the order of `looks` or else of the marks; there is no legend.
    """
    shown = drawable(marks)
    is_share = shown[0].unit == "share"
    axis = axis or Axis(has_zero=is_share)
    names = names_in(mark.series for mark in shown)
    base = alt.Chart().encode(
        x=_x([name for name in looks or names if name in names]),
        y=alt.Y(
            "value:Q",
            title=axis.name(titles),
            axis=axis.draw(is_share),
            scale=axis.scale((0.0, 1.0) if is_share else None),
        ),
    )
    return in_panels(
        _layers(base, shown, looks, 46 if len(names) <= FEW else 18).properties(height=260),
        shown,
        width=panel_width(shown),
        row_names="top",
    )


def _x(names: Sequence[str]) -> alt.X:
    are_few = len(names) <= FEW
    return alt.X(
        "series:N",
        sort=list(names),
        title=None,
        scale=alt.Scale(paddingInner=0.25, paddingOuter=0.15),
        axis=alt.Axis(
            ticks=False,
            labelAngle=0 if are_few else -40,
            labelExpr="split(datum.label, ' ')" if are_few else write_names(names, 200),
            labelLimit=200 + 2 * LETTER,
        ),
    )


def _layers(base: alt.Chart, marks: Sequence[Mark], looks: Mapping[str, Look] | None, size: int) -> alt.LayerChart:
    channel = channels(marks, Titles(series=""), looks)
    box = base.encode(color=channel.color).mark_boxplot(
        extent=1.5,
        outliers=False,
        size=size,
        box={"fillOpacity": 0.16, "stroke": INK, "strokeWidth": 0.8, "strokeOpacity": 0.5},
        median={"color": INK, "thickness": 2.5},
        rule={"strokeWidth": 1.2, "opacity": 0.5},
        ticks=False,
    )
    points = (
        base.transform_window(i="row_number()", groupby=["panel", "row"])
        .transform_calculate(jitter=JITTER)
        .encode(
            color=channel.color,
            shape=channel.shape,
            xOffset=alt.XOffset("jitter:Q", scale=alt.Scale(domain=[-0.6, 1.6])),
        )
    )
    rings = points.transform_joinaggregate(
        q1="q1(value)", q3="q3(value)", groupby=["panel", "row", "series"]
    ).transform_filter(OUTLIER)
    return alt.layer(
        box,
        points.mark_point(filled=True, size=20, opacity=0.55),
        rings.mark_point(filled=False, size=90, strokeWidth=1.4, opacity=0.9).encode(shape=alt.value("circle")),
    )
