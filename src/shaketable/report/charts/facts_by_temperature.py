"""Accuracy on known facts against temperature: a line per system, a panel per dataset."""

from __future__ import annotations

import altair as alt

from shaketable.report.charts.fact_panels import fact_rows, in_panels, system_lines
from shaketable.report.charts.panels import Row, temperature_axis
from shaketable.types import OldFinding


def facts_by_temperature(finding: OldFinding) -> alt.TopLevelMixin:
    rows = accuracy_rows(finding)
    y = alt.Y(
        "value:Q", title="Correct answers", axis=alt.Axis(format="~%", tickCount=5), scale=alt.Scale(domain=[0, 1])
    )
    return in_panels(system_lines(rows, temperature_axis(rows), y), rows)


def accuracy_rows(finding: OldFinding) -> list[Row]:
    """Samples, save where a system has curves alone; partial temperatures, which are too good, are left out."""
    rows = fact_rows(finding)
    sampled = {(row["system"], row["dataset"]) for row in rows if row["source"] == "sampled"}
    return [
        row
        for row in rows
        if row["source"] == ("sampled" if (row["system"], row["dataset"]) in sampled else "curve")
        and not (row["source"] == "sampled" and row["is_partial"])
    ]
