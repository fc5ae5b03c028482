"""How often a search brings a supporting document, search by search."""

from __future__ import annotations

import altair as alt

from shaketable.report.charts.panels import Row
from shaketable.report.charts.wording_panels import hop_lines, wording_grid, wording_rows
from shaketable.types import OldFinding


def gold_by_hop(finding: OldFinding) -> alt.TopLevelMixin:
    rows = gold_rows(finding)
    y = alt.Y(
        "value:Q",
        title="Brings a supporting document",
        axis=alt.Axis(format="~%", tickCount=5),
        scale=alt.Scale(domain=[0, 1]),
    )
    return wording_grid(hop_lines(rows, y), rows, height=190)


def gold_rows(finding: OldFinding) -> list[Row]:
    return wording_rows(finding, {"gold": "gold"})
