"""Loss, length and similarity of the wordings themselves, a mark per model."""

from __future__ import annotations

import altair as alt

from shaketable.report.charts.fact_panels import panel_width
from shaketable.report.charts.looks import themed
from shaketable.report.charts.panels import Row
from shaketable.report.charts.wording_panels import forest, wording_rows
from shaketable.types import OldFinding

SERIES = {
    "query_loss": "Loss, nats a token",
    "query_words": "Length, words",
    "query_similarity": "Similarity to the original",
}


def query_panels(finding: OldFinding) -> alt.TopLevelMixin:
    rows = query_rows(finding)
    several = len({row["dataset"] for row in rows}) > 1
    for row in rows:
        row["reader"] = f"{row['system']} · {row['dataset']}" if several else row["system"]
    titles = [title for title in SERIES.values() if any(row["series"] == title for row in rows)]
    return themed(
        alt.hconcat(
            *(_panel([row for row in rows if row["series"] == title], title, len(titles)) for title in titles),
            spacing=30,
        ).resolve_scale(color="shared", shape="shared")
    )


def query_rows(finding: OldFinding) -> list[Row]:
    return wording_rows(finding, SERIES)


def _panel(rows: list[Row], title: str, n: int) -> alt.LayerChart:
    layers = forest(rows, title, "Model", series="reader", scale=alt.Scale(zero=False))
    return layers.properties(data=alt.InlineData(rows), width=panel_width(n) - 90, height=alt.Step(13))
