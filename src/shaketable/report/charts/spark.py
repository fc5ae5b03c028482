"""A very small picture for a card: one line with its interval against temperature."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import altair as alt

from shaketable.factors import Cell
from shaketable.report.charts.layout import PLAIN
from shaketable.report.charts.looks import evidence_looks
from shaketable.report.charts.marks import Point


def spark(points: Sequence[Point], cell: Cell) -> alt.LayerChart:
    """The values behind a headline at every temperature, in the colour of its evidence."""
    ends = [points[0].temperature, points[-1].temperature]
    evidence = (cell.perturbation or "no_evidence").replace("_", " ")
    color = evidence_looks([evidence])[evidence].color
    is_level = points[0].unit == "share" and not points[0].is_difference
    base = alt.Chart(alt.InlineData([dataclasses.asdict(point) for point in points])).encode(
        x=alt.X(
            "temperature:Q",
            title=None,
            scale=alt.Scale(domain=ends, nice=False, padding=5),
            axis=alt.Axis(values=ends, labelExpr=PLAIN, grid=False, ticks=False),
        ),
        y=alt.Y(
            "value:Q",
            title=None,
            scale=alt.Scale(domain=[0, 1] if is_level else alt.Undefined, zero=True),
            axis=alt.Axis(tickCount=2, domain=False, labelExpr=_labels(points[0])),
        ),
    )
    return alt.layer(
        base.mark_area(opacity=0.16, color=color).encode(y="low:Q", y2="high:Q"),
        alt.Chart().mark_rule(opacity=0.4).encode(y=alt.datum(0)),
        base.mark_line(strokeWidth=2, color=color, point=alt.OverlayMarkDef(color=color, size=22)),
    ).properties(width=230, height=64)


def _labels(point: Point) -> str:
    if point.unit != "share":
        return "datum.label"
    return "format(datum.value * 100, '~g')" if point.is_difference else "format(datum.value, '~%')"
