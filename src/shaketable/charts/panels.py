"""Small multiples against temperature: columns systems, rows question types, a line and a band per evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt

from shaketable.charts.looks import evidence_channels, themed
from shaketable.types import Finding

WIDTH = 1000
"""Pixels, all panels together."""
ALL_TYPES = "all types"
Row = dict[str, Any]


def panel_rows(finding: Finding, metric: str) -> list[Row]:
    """Condition means of each question type where there are several, else of all questions."""
    rows = [row for row in finding.rows if row["metric"] == metric and row["contrast"] is None]
    by_type = len({row["type"] for row in rows} - {None}) > 1
    return worded(row for row in rows if (row["type"] is not None) == by_type and row["value"] is not None)


def worded(rows: Iterable[Mapping[str, Any]]) -> list[Row]:
    """The rows with the words that legends and panels show; a method that does not search has no evidence."""
    return [
        {
            **row,
            "evidence": (row["perturbation"] or "no_evidence").replace("_", " "),
            "type": row["type"] or ALL_TYPES,
        }
        for row in rows
    ]


def lines(rows: Sequence[Row], x: alt.X, y: alt.Y) -> alt.LayerChart:
    """A line with points per evidence, in a band from low to high."""
    channels = evidence_channels(rows)
    base = alt.Chart().encode(x=x, y=y, color=channels["color"])
    return alt.layer(
        base.mark_area(opacity=0.11).encode(y="low:Q", y2="high:Q"),
        base.mark_line(strokeWidth=2).encode(strokeDash=channels["strokeDash"]),
        base.mark_point(filled=True, size=55, opacity=1).encode(shape=channels["shape"]),
    )


def small_multiples(layers: alt.LayerChart, rows: Sequence[Row]) -> alt.TopLevelMixin:
    systems = list(dict.fromkeys(row["system"] for row in rows))
    header = alt.Header(title=None, labelOrient="top", labelAnchor="start")
    return themed(
        layers.properties(width=WIDTH // len(systems) - 66, height=200).facet(
            data=alt.InlineData(rows),
            column=alt.Column("system:N", sort=systems, header=header),
            row=alt.Row("type:N", header=alt.Header(title=None, labelOrient="left")),
            spacing={"column": 28, "row": 26},
        )
    )


def temperature_axis(rows: Sequence[Row]) -> alt.X:
    values = sorted({row["temperature"] for row in rows})
    return alt.X(
        "temperature:Q",
        title="Temperature",
        axis=alt.Axis(values=values, format="~g", grid=False, labelOverlap=True),
        scale=alt.Scale(domain=[values[0], values[-1]], nice=False, padding=8),
    )


def few(temperatures: Sequence[float], most: int = 4) -> list[float]:
    """Evenly picked, the ends among them, where all would not fit."""
    n = min(most, len(temperatures))
    steps = max(n - 1, 1)
    return [temperatures[round(i * (len(temperatures) - 1) / steps)] for i in range(n)]
