"""Which types of question are among the most robust facts, as bars, and their mean score, as points."""

from __future__ import annotations

import altair as alt

from shaketable.report.charts.fact_panels import fact_rows, panel_width
from shaketable.report.charts.looks import themed
from shaketable.report.charts.panels import Row
from shaketable.types import OldFinding

NAMES = {"NUM": "number", "LOC": "place", "ENTY": "entity", "HUM": "person"}
COLORS = ("#0072B2", "#009E73", "#E69F00", "#D55E00")


def type_ratios(finding: OldFinding) -> alt.TopLevelMixin:
    """Left of the half line a type is more often among the least robust facts than among the most robust."""
    rows = type_rows(finding)
    color = alt.Color(
        "name:N", legend=None, sort=None, scale=alt.Scale(domain=list(NAMES.values()), range=list(COLORS))
    )
    y = alt.Y("name:N", title=None, sort=list(NAMES.values()), axis=alt.Axis(ticks=False))
    half = alt.Chart().mark_rule(strokeDash=[4, 3], opacity=0.6).encode(x=alt.datum(0.5))
    shares = alt.Chart().encode(y=y, color=color).transform_filter("datum.kind == 'ratio'")
    bars = shares.mark_bar(opacity=0.75).encode(
        x=alt.X(
            "value:Q", title="Share in the robust group", axis=alt.Axis(format="~%"), scale=alt.Scale(domain=[0, 1])
        )
    )
    whiskers = shares.mark_rule(strokeWidth=1.5).encode(x="low:Q", x2="high:Q", color=alt.value("currentColor"))
    means = alt.Chart().encode(y=y, color=color).transform_filter("datum.kind == 'mean'")
    points = means.mark_point(filled=True, size=90, opacity=1).encode(
        x=alt.X("value:Q", title="Mean robustness score", scale=alt.Scale(zero=False))
    )
    intervals = means.mark_rule(strokeWidth=2.5).encode(x=alt.X("low:Q", scale=alt.Scale(zero=False)), x2="high:Q")
    header = alt.Header(title=None, labelAnchor="start", labelOrient="top", labelLimit=400)
    return themed(
        alt.hconcat(
            *(
                layers.properties(width=panel_width(2) - 40, height=alt.Step(24)).facet(
                    data=alt.InlineData(rows), row=alt.Row("system:N", header=header), spacing=14
                )
                for layers in (alt.layer(bars, whiskers, half), alt.layer(intervals, points))
            ),
            spacing=40,
        )
    )


def type_rows(finding: OldFinding) -> list[Row]:
    return [{**row, "name": NAMES[row["type"]]} for row in fact_rows(finding) if row["type"] in NAMES]
