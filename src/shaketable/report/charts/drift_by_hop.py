"""How queries drift from those of the original wording, and how often they fail, search by search."""

from __future__ import annotations

import altair as alt

from shaketable.report.charts.panels import Row
from shaketable.report.charts.wording_panels import hop_lines, wording_grid, wording_rows
from shaketable.types import OldFinding

COLUMNS = {"mss": "similarity of queries", "gold": "searches without a supporting document"}


def drift_by_hop(finding: OldFinding) -> alt.TopLevelMixin:
    rows = drift_rows(finding)
    y = alt.Y(
        "value:Q", title=None, axis=alt.Axis(format="~g", tickCount=5), scale=alt.Scale(domain=[0, 1], clamp=True)
    )
    several = len({row["panel"] for row in rows}) > 1
    named = [{**row, "system": f"{row['system']} · {row['panel']}" if several else row["system"]} for row in rows]
    return wording_grid(hop_lines(named, y), named, column="series", height=170)


def drift_rows(finding: OldFinding) -> list[Row]:
    """Failed searches are those that gold inclusion leaves."""
    rows = [row for row in wording_rows(finding, COLUMNS) if row.get("hop")]
    rows.sort(key=lambda row: row["metric"] != "mss")
    return [row if row["metric"] == "mss" else {**row, **_rest(row)} for row in rows]


def _rest(row: Row) -> Row:
    one_minus = {name: None if row[name] is None else 1 - row[name] for name in ("value", "low", "high")}
    return {"value": one_minus["value"], "low": one_minus["high"], "high": one_minus["low"]}
