"""Scores of single questions by evidence, as boxes and points: a cool temperature beside the hottest."""

from __future__ import annotations

import altair as alt

from shaketable.report.charts.looks import INK, WIDTH, evidence_channels, evidence_looks, themed
from shaketable.report.charts.panels import Row, worded
from shaketable.types import OldFinding

GOLDEN = 0.618034
"""Multiples of it, less their whole part, spread points evenly whatever their number."""


def score_boxes(finding: OldFinding, metric: str, *, cool: float = 0.6) -> alt.TopLevelMixin:
    """One row per question: boxes from quartile to quartile, whiskers to 1.5 times their distance, outliers ringed.

    The left panel is the temperature nearest to `cool`. Rows of several systems or types get rows of panels.
    """
    rows = box_rows(finding, metric, cool=cool)
    shown = list(evidence_looks(row["evidence"] for row in rows))
    temperatures = list(dict.fromkeys(row["at"] for row in rows))
    groups = list(dict.fromkeys(row["group"] for row in rows))
    is_share = rows[0]["unit"] == "share"
    few_names = len(shown) <= 6
    base = alt.Chart().encode(
        x=alt.X(
            "evidence:N",
            sort=shown,
            title=None,
            scale=alt.Scale(paddingInner=0.25, paddingOuter=0.15),
            axis=alt.Axis(
                ticks=False,
                labelAngle=0 if few_names else -40,
                labelExpr="split(datum.label, ' ')" if few_names else "datum.label",
                labelLimit=200,
            ),
        ),
        y=alt.Y(
            "value:Q",
            title=f"{metric} by question",
            axis=alt.Axis(format="~%" if is_share else "~g", tickCount=5),
            scale=alt.Scale(domain=[0, 1]) if is_share else alt.Scale(zero=False, nice=True),
        ),
        color=evidence_channels(rows, legend=False)["color"],
    )
    box = base.mark_boxplot(
        extent=1.5,
        outliers=False,
        size=46 if few_names else 18,
        box={"fillOpacity": 0.16, "stroke": INK, "strokeWidth": 0.8, "strokeOpacity": 0.5},
        median={"color": INK, "thickness": 2.5},
        rule={"strokeWidth": 1.2, "opacity": 0.5},
        ticks=False,
    )
    points = base.encode(
        xOffset=alt.XOffset("jitter:Q", scale=alt.Scale(domain=[-0.6, 1.6])),
        shape=evidence_channels(rows, legend=False)["shape"],
    )
    dots = points.mark_point(filled=True, size=20, opacity=0.55)
    rings = (
        points.transform_joinaggregate(q1="q1(value)", q3="q3(value)", groupby=["group", "at", "evidence"])
        .transform_filter("abs(datum.value - (datum.q1 + datum.q3) / 2) > 2 * (datum.q3 - datum.q1)")
        .mark_point(filled=False, size=90, strokeWidth=1.4, opacity=0.9)
        .encode(shape=alt.value("circle"))
    )
    header = alt.Header(title=None, labelAnchor="start")
    return themed(
        alt.layer(box, dots, rings)
        .properties(width=(WIDTH - 100) // len(temperatures) - 10, height=260)
        .facet(
            data=alt.InlineData(rows),
            column=alt.Column("at:N", sort=temperatures, header=header),
            row=alt.Row("group:N", sort=groups, header=header if len(groups) > 1 else None, title=None),
            spacing={"column": 20, "row": 20},
        )
    )


def box_rows(finding: OldFinding, metric: str, *, cool: float = 0.6) -> list[Row]:
    """The questions at two temperatures, each with its place across the box."""
    rows = [
        row
        for row in worded(finding.rows)
        if row["metric"] == metric and row["value"] is not None and row.get("contrast") is None
    ]
    temperatures = cool_and_hot({row["temperature"] for row in rows}, cool)
    shown = [row for row in rows if row["temperature"] in temperatures]
    shown.sort(key=lambda row: (row["temperature"], row["panel"], row["type"]))
    return [
        {
            **row,
            "at": f"temperature {row['temperature']:g}",
            "group": f"{row['panel']} · {row['type']}",
            "jitter": round((i * GOLDEN) % 1, 3),
        }
        for i, row in enumerate(shown)
    ]


def cool_and_hot(temperatures: set[float], cool: float) -> list[float]:
    """The temperature nearest to `cool`, the cooler of two, and the hottest."""
    if not temperatures:
        return []
    nearest = min(temperatures, key=lambda temperature: (round(abs(temperature - cool), 9), temperature))
    return sorted({nearest, max(temperatures)})
