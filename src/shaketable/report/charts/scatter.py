"""Scatter plots: a point for each mark, with densities at the margins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import altair as alt

from shaketable.report.charts.layout import Channels, channels
from shaketable.report.charts.looks import INK, WIDTH, Look
from shaketable.report.charts.marks import Mark, Titles, as_data, drawable

MARGIN = 70
"""Pixels of a density."""
HEIGHT = 340


def scatter(
    marks: Sequence[Mark],
    titles: Titles,
    *,
    looks: Mapping[str, Look] | None = None,
    is_ringed: Callable[[Mark], bool] = lambda mark: False,
    span: tuple[float, float] = (0.0, 1.0),
) -> alt.VConcatChart:
    """A point at `x` and `value` for each mark; those that are ringed have no part in the density of values.

    marks = [Mark(x=0.2, value=0.8, temperature=1.4, series="smollm2", label="q17")]
    titles = Titles(panel="Dataset", series="System", x="Entropy", temperature="Breaking temperature", value="Score",
                    label="Question")
    scatter(marks, titles, is_ringed=lambda mark: mark.temperature is None)
    """
    shown = drawable(marks)
    channel = channels(shown, titles, looks)
    rows = [{**row, "is_ringed": is_ringed(mark)} for mark, row in zip(shown, as_data(shown), strict=True)]
    data = alt.InlineData(rows)
    scale, axis = alt.Scale(domain=list(span), nice=False), alt.Axis(tickCount=5)
    base = alt.Chart(data).encode(
        x=alt.X("x:Q", title=titles.x, scale=scale, axis=axis),
        y=alt.Y("value:Q", title=titles.value, scale=scale, axis=axis),
        color=channel.color,
    )
    points = base.mark_point(filled=True, size=26, opacity=0.55).encode(shape=channel.shape)
    rings = base.transform_filter("datum.is_ringed").mark_point(filled=False, size=80, strokeWidth=1.2, opacity=0.8)
    width = WIDTH - MARGIN - 110
    above = _margin(data, "x", channel, span).encode(
        x=alt.X("at:Q", axis=None, scale=scale), y=alt.Y("density:Q", axis=None)
    )
    # What is ringed has one value; as a density it would be a hill, and hide the others.
    beside = _margin(data, "value", channel, span, where="!datum.is_ringed").encode(
        y=alt.Y("at:Q", axis=None, scale=scale), x=alt.X("density:Q", axis=None)
    )
    middle = alt.layer(points, rings.encode(shape=alt.value("circle"), color=alt.value(INK)))
    return alt.vconcat(
        above.properties(width=width, height=MARGIN),
        alt.hconcat(
            middle.properties(width=width, height=HEIGHT),
            beside.properties(width=MARGIN, height=HEIGHT),
            spacing=8,
        ),
        spacing=8,
    )


def _margin(
    data: alt.InlineData, of: str, channel: Channels, span: tuple[float, float], *, where: str = "true"
) -> alt.Chart:
    return (
        alt.Chart(data)
        .transform_filter(where)
        .transform_density(of, groupby=["series"], as_=["at", "density"], extent=list(span))
        .mark_line(strokeWidth=1.5)
        .encode(color=channel.color, strokeDash=channel.dash, order="at:Q")
    )
