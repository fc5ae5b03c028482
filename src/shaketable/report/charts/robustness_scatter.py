"""Entropy and robustness score of single facts, with densities at the margins; facts that never break are ringed."""

from __future__ import annotations

import altair as alt

from shaketable.report.charts.fact_panels import scored_facts, system_channels
from shaketable.report.charts.looks import INK, WIDTH, themed
from shaketable.report.charts.panels import Row
from shaketable.types import OldFinding

MARGIN = 70
"""Pixels of a density."""


def robustness_scatter(finding: OldFinding, *, d: int = 1) -> alt.TopLevelMixin:
    rows = scored_facts(finding, d)
    channels = system_channels(rows)
    data = alt.InlineData(rows)
    span, axis = alt.Scale(domain=[0, 1], nice=False), alt.Axis(tickCount=5)
    x = alt.X("entropy:Q", title="Entropy at temperature 0", scale=span, axis=axis)
    y = alt.Y("frs:Q", title=f"Factual robustness score (d = {d})", scale=span, axis=axis)
    base = alt.Chart(data).encode(x=x, y=y, color=channels["color"])
    points = base.mark_point(filled=True, size=26, opacity=0.55).encode(shape=channels["shape"])
    rings = (
        base.transform_filter("!isValid(datum.breaking)")
        .mark_point(filled=False, size=80, strokeWidth=1.2, opacity=0.8)
        .encode(shape=alt.value("circle"), color=alt.value(INK))
    )
    width = WIDTH - 70 - MARGIN - 40
    above = _density(data, "entropy", channels).encode(
        x=alt.X("value:Q", axis=None, scale=span), y=alt.Y("density:Q", axis=None)
    )
    # All facts that never break score 1; as a density they would be a hill, and hide the others.
    beside = _density(data, "frs", channels, where="isValid(datum.breaking)").encode(
        y=alt.Y("value:Q", axis=None, scale=span), x=alt.X("density:Q", axis=None)
    )
    return themed(
        alt.vconcat(
            above.properties(width=width, height=MARGIN),
            alt.hconcat(
                alt.layer(points, rings).properties(width=width, height=340),
                beside.properties(width=MARGIN, height=340),
                spacing=8,
            ),
            spacing=8,
        )
    )


def _density(data: alt.InlineData, of: str, channels: Row, *, where: str = "true") -> alt.Chart:
    return (
        alt.Chart(data)
        .transform_filter(where)
        .transform_density(of, groupby=["system"], as_=["value", "density"], extent=[0, 1])
        .mark_line(strokeWidth=1.5)
        .encode(color=channels["color"], strokeDash=channels["strokeDash"], order="value:Q")
    )
