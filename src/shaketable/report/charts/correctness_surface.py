"""Scores over wording, evidence and temperature at once, as a heat map for each system."""

from __future__ import annotations

import altair as alt

from shaketable.factors import title_of
from shaketable.report.charts.looks import WIDTH, themed
from shaketable.report.charts.panels import PLAIN, Row, panel_header, worded
from shaketable.report.wording_words import name_way, order_of_way
from shaketable.types import OldFinding

GAPS = alt.Scale(paddingInner=0.04)


def correctness_surface(finding: OldFinding, metric: str) -> alt.TopLevelMixin:
    rows = surface_rows(finding, metric)
    share = rows[0]["unit"] == "share"
    values = [row["value"] for row in rows]
    domain = [0.0, 1.0] if share else [min(values), max(values)]
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    evidence = list(dict.fromkeys(row["evidence"] for row in rows))
    number_format = ".0%" if share else ".2f"
    base = alt.Chart().encode(
        x=alt.X(
            "temperature:O", title="Temperature", scale=GAPS, axis=alt.Axis(labelAngle=0, labelExpr=PLAIN, ticks=False)
        ),
        y=alt.Y("evidence:N", title=None, sort=evidence, scale=GAPS, axis=alt.Axis(ticks=False, labelLimit=200)),
    )
    boxes = base.mark_rect().encode(
        color=alt.Color(
            "value:Q",
            title=title_of(metric),
            scale=alt.Scale(scheme="viridis", domain=domain),
            legend=alt.Legend(format="~%" if share else "~g", gradientLength=200),
        )
    )
    middle = (domain[0] + domain[1]) / 2
    numbers = base.mark_text(fontSize=11).encode(
        text=alt.Text("value:Q", format=number_format),
        # Black on the light end of the scale, white on its dark end.
        color=alt.condition(
            f"datum.value > {middle + 0.1 * (domain[1] - domain[0])}", alt.value("black"), alt.value("white")
        ),
    )
    width = (WIDTH - 210) // len(panels) - 20
    return themed(
        alt.layer(boxes, numbers)
        .properties(width=width, height=alt.Step(24))
        .facet(
            data=alt.InlineData(rows),
            column=alt.Column("panel:N", sort=panels, header=panel_header(len(panels))),
            row=alt.Row(
                "asked:N",
                sort=list(dict.fromkeys(row["asked"] for row in rows)),
                header=alt.Header(title=None, labelOrient="left", labelAngle=0, labelAlign="left", labelLimit=110),
            ),
            spacing={"column": 16, "row": 10},
        )
    )


def surface_rows(finding: OldFinding, metric: str) -> list[Row]:
    """Means of all questions in every setting, systems by model, method and retriever; those that search, if any do."""
    found = [
        row
        for row in finding.rows
        if row["metric"] == metric and row["contrast"] is None and row["type"] is None and row["value"] is not None
    ]
    rows = worded([row for row in found if row["perturbation"] is not None] or found)
    several = [name for name in ("dataset", "model", "method", "retriever") if len({row[name] for row in rows}) > 1]
    named = several or ["model"]
    return sorted(
        (
            {**row, "panel": " · ".join(str(row[name]) for name in named), "asked": name_way(row["variation"])}
            for row in rows
        ),
        key=lambda row: (row["panel"], order_of_way(row["variation"]), row["evidence"] != "unchanged"),
    )
