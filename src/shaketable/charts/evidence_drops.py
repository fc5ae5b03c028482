"""What each disturbance of the evidence costs, paired by question: a forest plot, largest drop on top."""

from __future__ import annotations

import altair as alt

from shaketable.charts.looks import evidence_channels, themed
from shaketable.charts.panels import ALL_TYPES, WIDTH, Row, few, worded
from shaketable.types import Finding


def evidence_drops(finding: Finding, metric: str) -> alt.TopLevelMixin:
    rows = drop_rows(finding, metric)
    share = rows[0]["unit"] == "share"
    temperatures = list(dict.fromkeys(row["at"] for row in rows))
    systems = {row["system"] for row in rows}
    label_room = 8 * max(len(row["row"]) for row in rows)
    width = (WIDTH - label_room) // len(temperatures) - 20
    order = [row["row"] for row in sorted(rows, key=lambda row: (row["temperature"], -row["value"]))]
    channels = evidence_channels(rows, legend=len(systems) > 1)
    base = alt.Chart().encode(
        x=alt.X(
            "value:Q",
            title=f"Drop ({'points' if share else metric})",
            axis=alt.Axis(
                tickCount=5 if width > 200 else 3,
                labelExpr="format(datum.value * 100, '~g')" if share else "datum.label",
            ),
        ),
        y=alt.Y("row:N", title=None, sort=list(dict.fromkeys(order)), axis=alt.Axis(labelLimit=380, ticks=False)),
        color=channels["color"],
    )
    zero = alt.Chart().mark_rule(opacity=0.5).encode(x=alt.datum(0))
    interval = base.mark_rule(strokeWidth=2.5).encode(x="low:Q", x2="high:Q")
    point = base.mark_point(filled=True, size=95, opacity=1).encode(shape=channels["shape"])
    return themed(
        (zero + interval + point)
        .properties(width=width, height=alt.Step(30))
        .facet(
            data=alt.InlineData(rows),
            column=alt.Column("at:N", sort=temperatures, header=alt.Header(title=None, labelAnchor="start")),
            spacing=20,
        )
    )


def drop_rows(finding: Finding, metric: str) -> list[Row]:
    """Drops of all questions at a few temperatures, from the coolest to the hottest."""
    rows = [
        row
        for row in worded(finding.rows)
        if row["metric"] == metric and row["value"] is not None and row["type"] == ALL_TYPES
        if str(row["contrast"]).startswith("unchanged")
    ]
    all_systems = len({row["system"] for row in rows}) > 1
    shown = few(sorted({row["temperature"] for row in rows}))
    return [
        {
            **row,
            "row": f"{row['system']} · {row['evidence']}" if all_systems else row["evidence"],
            "at": f"temperature {row['temperature']:g}",
        }
        for row in rows
        if row["temperature"] in shown
    ]
