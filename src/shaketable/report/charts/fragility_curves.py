"""Single facts against temperature: the estimate of a correct answer, its interval, and certified bounds."""

from __future__ import annotations

import altair as alt

from shaketable.report.charts.fact_panels import panel_width
from shaketable.report.charts.looks import INK, themed
from shaketable.report.charts.panels import Row
from shaketable.types import OldFinding

COLOR = "#0072B2"


def fragility_curves(finding: OldFinding) -> alt.TopLevelMixin:
    rows = curve_rows(finding)
    panels = list(dict.fromkeys(row["fact"] for row in rows))
    x = alt.X("temperature:Q", title="Temperature", axis=alt.Axis(grid=False, tickCount=5))
    y = alt.Y("value:Q", title="P(correct)", axis=alt.Axis(format="~%", tickCount=4), scale=alt.Scale(domain=[0, 1]))
    base = alt.Chart().encode(x=x)
    certain = base.mark_area(opacity=0.1, color=INK).encode(y="certain_low:Q", y2="certain_high:Q")
    interval = base.mark_area(opacity=0.25, color=COLOR).encode(y="low:Q", y2="high:Q")
    line = base.mark_line(strokeWidth=2, color=COLOR).encode(y=y)
    half = alt.Chart().mark_rule(strokeDash=[4, 3], opacity=0.5).encode(y=alt.datum(0.5))
    breaks = (
        alt.Chart()
        .transform_filter("isValid(datum.mark)")
        .mark_rule(strokeWidth=1.5, strokeDash=[6, 3], color="#D55E00")
        .encode(x=alt.X("mark:Q", title="Temperature"))
    )
    n = min(3, len(panels))
    return themed(
        alt.layer(certain, interval, line, half, breaks)
        .properties(width=panel_width(3) if n > 1 else panel_width(1), height=150)
        .facet(
            data=alt.InlineData(rows),
            facet=alt.Facet("fact:N", sort=panels, header=alt.Header(title=None, labelAnchor="start", labelLimit=280)),
            columns=n,
            spacing=24,
        )
    )


def curve_rows(finding: OldFinding) -> list[Row]:
    """The curves of a finding, with the breaking temperature on the first row of each."""
    rows: list[Row] = []
    seen: set[str] = set()
    for row in finding.rows:
        if row["kind"] == "curve":
            fact = f"{row['system']} · {row['question_id']}"
            rows.append({**row, "fact": fact, "mark": None if fact in seen else row["breaking"]})
            seen.add(fact)
    return rows
