"""How far disturbed evidence throws a system back to its closed-book answers, against temperature."""

from __future__ import annotations

import altair as alt

from shaketable.report.charts.panels import Row, lines, small_multiples, temperature_axis, worded
from shaketable.types import OldFinding


def reliance_by_temperature(finding: OldFinding) -> alt.TopLevelMixin:
    rows = reliance_rows(finding)
    lowest = min([0.0, *(row["low"] for row in rows if row["low"] is not None)])
    highest = max([1.0, *(row["high"] for row in rows if row["high"] is not None)])
    y = alt.Y(
        "value:Q",
        title="Context reliance",
        axis=alt.Axis(tickCount=5, format="~g"),
        scale=alt.Scale(domain=[lowest - 0.1, highest + 0.1], nice=False),
    )
    once = alt.Chart().transform_aggregate(n="count()")  # a mark for each panel, not for each row
    marks = [
        layer
        for at, words in ((0, "ignored"), (1, "as closed book"))
        for layer in (
            once.mark_rule(strokeDash=[2, 3], opacity=0.6).encode(y=alt.datum(at)),
            once.mark_text(text=words, align="right", baseline="bottom", dy=-3, fontSize=11).encode(
                y=alt.datum(at), x=alt.value("width")
            ),
        )
    ]
    return small_multiples(alt.layer(lines(rows, temperature_axis(rows), y), *marks), rows)


def reliance_rows(finding: OldFinding) -> list[Row]:
    """Where evidence brings so little that the ratio says nothing, nothing is drawn."""
    return worded(row for row in finding.rows if row["value"] is not None and not row["is_floored"])
