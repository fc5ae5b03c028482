"""A very small picture for a card: one line with its interval against temperature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt

from shaketable.report.charts.looks import looks, themed
from shaketable.report.charts.panels import PLAIN, worded
from shaketable.types import Finding


def spark(finding: Finding, row: Mapping[str, Any]) -> alt.TopLevelMixin:
    """The values that stand behind a row with a sentence, at every temperature."""
    rows = spark_rows(finding, row)
    temperatures = [one["temperature"] for one in rows]
    color = looks(one["evidence"] for one in worded(finding.rows))[rows[0]["evidence"]].color
    domain = [0, 1] if row["unit"] == "share" and not _is_drop(row) else alt.Undefined
    base = alt.Chart(alt.InlineData(rows)).encode(
        x=alt.X(
            "temperature:Q",
            title=None,
            scale=alt.Scale(domain=[min(temperatures), max(temperatures)], nice=False, padding=5),
            axis=alt.Axis(values=[min(temperatures), max(temperatures)], labelExpr=PLAIN, grid=False, ticks=False),
        ),
        y=alt.Y(
            "value:Q",
            title=None,
            scale=alt.Scale(domain=domain, zero=True),
            axis=alt.Axis(tickCount=2, domain=False, labelExpr=_labels(row)),
        ),
    )
    return themed(
        alt.layer(
            base.mark_area(opacity=0.16, color=color).encode(y="low:Q", y2="high:Q"),
            alt.Chart().mark_rule(opacity=0.4).encode(y=alt.datum(0)),
            base.mark_line(strokeWidth=2, color=color, point=alt.OverlayMarkDef(color=color, size=22)),
        ).properties(width=230, height=64)
    )


def spark_rows(finding: Finding, row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The same condition at all temperatures; for a drop between temperatures, the levels it comes from."""
    contrast = row["contrast"] if _is_drop(row) else None
    same = ("metric", "dataset", "model", "method", "retriever", "perturbation", "variation", "type")
    rows = [
        one
        for one in finding.rows
        if one["contrast"] == contrast and one["value"] is not None and all(one[name] == row[name] for name in same)
    ]
    return sorted(worded(rows), key=lambda one: one["temperature"])


def _labels(row: Mapping[str, Any]) -> str:
    if row["unit"] != "share":
        return "datum.label"
    return "format(datum.value * 100, '~g')" if _is_drop(row) else "format(datum.value, '~%')"


def _is_drop(row: Mapping[str, Any]) -> bool:
    return str(row["contrast"] or "").startswith("unchanged")
