"""What pictures of facts share: one colour, dash and shape per system, a panel per dataset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from shaketable.facts.score import frs
from shaketable.report.charts.looks import KNOWN, SPARE, WIDTH, names_legend, themed
from shaketable.report.charts.panels import Row, panel_header
from shaketable.types import OldFinding

LOOKS = (*KNOWN.values(), *SPARE)
POOLED = "all datasets"


def fact_rows(finding: OldFinding, kind: str | None = None) -> list[Row]:
    """Rows of one kind that have a value, with the words of their panel."""
    return [
        {**row, "panel": row["dataset"] or POOLED}
        for row in finding.rows
        if row["value"] is not None and (kind is None or row["kind"] == kind)
    ]


def scored_facts(finding: OldFinding, d: int) -> list[Row]:
    """Known facts with their score for this d."""
    return [
        {
            "system": row["system"],
            "panel": row["panel"],
            "question_id": row["question_id"],
            "entropy": row["entropy"],
            "breaking": row["breaking"],
            "frs": frs(row["entropy"], row["breaking"], d),
        }
        for row in fact_rows(finding, "fact")
    ]


def system_channels(rows: Sequence[Row]) -> dict[str, Any]:
    """Colour, dash and shape together, so that no system is told by its colour alone."""
    systems = sorted({row["system"] for row in rows})
    shown = [LOOKS[i % len(LOOKS)] for i in range(len(systems))]
    shared = {"title": "System", "sort": None, "legend": names_legend(systems)}

    def scale(part: str) -> alt.Scale:
        return alt.Scale(domain=systems, range=[getattr(look, part) for look in shown])

    return {
        "color": alt.Color("system:N", scale=scale("color"), **shared),
        "strokeDash": alt.StrokeDash("system:N", scale=scale("dash"), **shared),
        "shape": alt.Shape("system:N", scale=scale("shape"), **shared),
    }


def system_lines(rows: Sequence[Row], x: alt.X, y: alt.Y) -> alt.LayerChart:
    """A line with points per system, in a band from low to high."""
    channels = system_channels(rows)
    base = alt.Chart().encode(x=x, y=y, color=channels["color"])
    return alt.layer(
        base.mark_area(opacity=0.11).encode(y="low:Q", y2="high:Q"),
        base.mark_line(strokeWidth=2).encode(strokeDash=channels["strokeDash"]),
        base.mark_point(filled=True, size=45, opacity=1).encode(shape=channels["shape"]),
    )


def in_panels(layers: alt.LayerChart, rows: Sequence[Row], *, height: int = 220) -> alt.TopLevelMixin:
    """One panel per dataset, the pooled one last."""
    panels = sorted({row["panel"] for row in rows}, key=lambda name: (name == POOLED, name))
    return themed(
        layers.properties(width=panel_width(len(panels)), height=height).facet(
            data=alt.InlineData(list(rows)),
            column=alt.Column("panel:N", sort=panels, header=panel_header(len(panels))),
            spacing=24,
        )
    )


def panel_width(n: int) -> int:
    return (WIDTH - 70) // n - 24
