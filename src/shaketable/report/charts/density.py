"""Densities: how values are spread, with those that share one value as a spike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt

from shaketable.report.charts.layout import Picture, channels, in_panels, panel_width
from shaketable.report.charts.looks import Look
from shaketable.report.charts.marks import Mark, Titles, drawable


def density(
    marks: Sequence[Mark],
    titles: Titles,
    *,
    looks: Mapping[str, Look] | None = None,
    span: tuple[float, float] = (0.0, 1.03),
) -> Picture:
    """An area per series through the marks without a label, and a spike for each mark that has one, with the label.

        curve = [Mark(x=0.5, value=1.2, series="smollm2", panel="triviaqa"), ...]  # a density at each x
        spike = Mark(x=1.0, value=10 * 0.3, series="smollm2", panel="triviaqa", label="30 % unbroken")
        density([*curve, spike], Titles(panel="Dataset", series="System", x="Score", value="Density of broken facts"))

    Spikes of several series at one place hide one another: put them a little apart.
    """
    shown = drawable(marks)
    channel = channels(shown, titles, looks)
    x = alt.X("x:Q", title=titles.x, scale=alt.Scale(domain=list(span), nice=False), axis=alt.Axis(tickCount=5))
    y = alt.Y("value:Q", title=titles.value, stack=None, axis=alt.Axis(tickCount=4))
    base = alt.Chart().encode(x=x, y=y, color=channel.color)
    spikes = base.transform_filter("datum.label !== ''")
    layers = alt.layer(
        base.transform_filter("datum.label === ''").mark_area(opacity=0.15, line=True),
        spikes.mark_rule(strokeWidth=3).encode(strokeDash=channel.dash),
        spikes.mark_text(align="right", baseline="bottom", dx=-6, fontSize=11).encode(text="label:N"),
    )
    return in_panels(layers.properties(height=220), shown, width=panel_width(shown, beside=70))
