"""f and the robustness score over entropy and breaking temperature, a column for each d."""

from __future__ import annotations

import altair as alt

from shaketable.facts.score import D, f, frs
from shaketable.report.charts.fact_panels import panel_width
from shaketable.report.charts.looks import themed
from shaketable.report.charts.panels import Row
from shaketable.types import OldFinding

STEPS = 20


def robustness_surfaces(finding: OldFinding) -> alt.TopLevelMixin:
    """Both are functions; of the finding only its choice of d is drawn."""
    rows = surface_rows(tuple(finding.settings.get("d", D)))
    columns = list(dict.fromkeys(row["column"] for row in rows))

    def heatmaps(value: str, title: str, domain: list[float]) -> alt.FacetChart:
        return (
            alt.Chart()
            .mark_rect(binSpacing=0)
            .encode(
                x=alt.X("entropy:Q", bin="binned", title="Entropy", axis=alt.Axis(values=[0, 0.5, 1])),
                x2="entropy_end:Q",
                y=alt.Y("breaking:Q", bin="binned", title="Breaking temperature", axis=alt.Axis(values=[0, 1, 2])),
                y2="breaking_end:Q",
                color=alt.Color(
                    f"{value}:Q",
                    title=title,
                    scale=alt.Scale(scheme="viridis", domain=domain),
                    legend=alt.Legend(orient="right", direction="vertical", gradientLength=110),
                ),
            )
            .properties(width=panel_width(len(columns)) - 20, height=130)
            .facet(
                data=alt.InlineData(rows),
                column=alt.Column("column:N", sort=columns, header=alt.Header(title=None, labelAnchor="start")),
                spacing=16,
            )
        )

    return themed(
        alt.vconcat(heatmaps("f", "f", [-1, 3]), heatmaps("frs", "FRS", [0, 0.8])).resolve_scale(color="independent")
    )


def surface_rows(every_d: tuple[int, ...]) -> list[Row]:
    """Cells of a grid with both values at their middle; on the entropy axis [0, 1], on the other [0, 2]."""
    cells = [(i / STEPS, 2 * j / STEPS) for i in range(STEPS) for j in range(STEPS)]
    half = 0.5 / STEPS
    return [
        {
            "column": f"d = {d}",
            "entropy": entropy,
            "entropy_end": entropy + 2 * half,
            "breaking": breaking,
            "breaking_end": breaking + 4 * half,
            "f": f(entropy + half, breaking + 2 * half, d),
            "frs": frs(entropy + half, breaking + 2 * half, d),
        }
        for d in every_d
        for entropy, breaking in cells
    ]
