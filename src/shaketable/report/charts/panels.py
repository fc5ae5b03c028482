"""Small multiples against temperature: columns systems, rows question types, a line and a band per evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import altair as alt

from shaketable.report.charts.looks import WIDTH, evidence_channels, themed
from shaketable.types import OldFinding

ALL_TYPES = "all types"
BROKEN = "replace(replace(datum.label, '(', ' · '), regexp('[()\"\\']', 'g'), '')"
"""A label that also breaks before its settings, without their brackets and quotes."""
PLAIN = "format(datum.value, '~g')"
"""A label with all its digits; an axis' own format rounds to the distance of its ticks, and 1.5 to 2."""
Row = dict[str, Any]


def panel_rows(finding: OldFinding, metric: str) -> list[Row]:
    """Condition means of each question type where there are several, else of all questions."""
    rows = [row for row in finding.rows if row["metric"] == metric and row["contrast"] is None]
    by_type = len({row["type"] for row in rows} - {None}) > 1
    return worded(row for row in rows if (row["type"] is not None) == by_type and row["value"] is not None)


def worded(rows: Iterable[Mapping[str, Any]]) -> list[Row]:
    """The rows with the words that legends and panels show; a method that does not search has no evidence.

    `remark`, where a row has one, is a warning about its system that every panel of it must show.
    """
    return [
        {
            **row,
            "evidence": (row["perturbation"] or "no_evidence").replace("_", " "),
            "type": row["type"] or ALL_TYPES,
            "panel": f"{row['system']} · {row['remark']}" if row.get("remark") else row["system"],
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
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    types = sorted({row["type"] for row in rows}, key=type_order)
    gap = 24
    return themed(
        layers.properties(width=(WIDTH - 60) // len(panels) - gap, height=200).facet(
            data=alt.InlineData(rows),
            column=alt.Column("panel:N", sort=panels, header=panel_header(len(panels))),
            row=alt.Row("type:N", sort=types, header=alt.Header(title=None, labelOrient="left")),
            spacing={"column": gap, "row": 26},
        )
    )


def panel_header(n: int) -> alt.Header:
    """A line for each piece of a system's name, smaller and in shorter lines where many stand side by side."""
    return alt.Header(
        title=None,
        labelOrient="top",
        labelAnchor="start",
        labelExpr=f"split({'datum.label' if n < 3 else BROKEN}, ' · ')",
        labelFontSize=13 if n < 4 else 10,
        labelLimit=(WIDTH - 60) // n,
    )


def type_order(name: str) -> tuple[bool, str]:
    """Comparison above bridge, as readers of the study know its figures; others by name."""
    return name != "comparison", name


def one_per_panel(rows: Sequence[Row], words: Callable[[Row], Row]) -> list[Row]:
    """The rows, with what `words` makes of the first of each panel: a mark that is drawn once."""
    first = {(row["panel"], row["type"]): i for i, row in reversed(list(enumerate(rows)))}
    nothing = dict.fromkeys(words(rows[0])) if rows else {}
    return [{**row, **(words(row) if first[row["panel"], row["type"]] == i else nothing)} for i, row in enumerate(rows)]


def temperature_axis(rows: Sequence[Row]) -> alt.X:
    values = sorted({row["temperature"] for row in rows})
    return alt.X(
        "temperature:Q",
        title="Temperature",
        axis=alt.Axis(values=values, labelExpr=PLAIN, grid=False, labelOverlap=True),
        scale=alt.Scale(domain=[values[0], values[-1]], nice=False, padding=8),
    )
