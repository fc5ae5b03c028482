"""What explains the variation: one bar that the shares fill, and each share with its interval below."""

from __future__ import annotations

import altair as alt

from shaketable.report.charts.looks import COMPONENTS, INK, WIDTH, themed
from shaketable.report.charts.panels import Row
from shaketable.types import OldFinding

WORDS = {"by question": "settings, by question", "sampling": "sampling (dice)"}
LABEL_ROOM = 170


def variance_bar(finding: OldFinding) -> alt.TopLevelMixin:
    rows = share_rows(finding)
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    names = list(dict.fromkeys(row["component"] for row in rows))
    colors = {row["component"]: COMPONENTS[row["effect"]] for row in rows}
    width = (WIDTH - LABEL_ROOM) // len(datasets) - 30
    color = alt.Color(
        "component:N", sort=None, legend=None, scale=alt.Scale(domain=names, range=[colors[name] for name in names])
    )
    panels = [_panel([row for row in rows if row["dataset"] == dataset], names, color, width) for dataset in datasets]
    if len(datasets) == 1:
        return themed(panels[0])
    titled = [panel.properties(title=str(name)) for panel, name in zip(panels, datasets, strict=True)]
    return themed(alt.hconcat(*titled, spacing=30))


def _panel(rows: list[Row], names: list[str], color: alt.Color, width: int) -> alt.VConcatChart:
    top = max([1.0, *(row["end"] for row in rows)])
    scale = alt.Scale(domain=[min([0.0, *(row["low"] for row in rows if row["low"] is not None)]), top], nice=False)
    base = alt.Chart(alt.InlineData(rows))
    bar = base.mark_bar(stroke=INK, strokeWidth=0.5, strokeOpacity=0.5, height=44).encode(
        x=alt.X("start:Q", scale=scale, axis=None), x2="end:Q", color=color
    )
    lines = base.encode(
        y=alt.Y("component:N", title=None, sort=names, axis=alt.Axis(ticks=False, grid=True, labelLimit=LABEL_ROOM)),
        color=color,
    )
    x = alt.X("value:Q", title="Share of the variation", scale=scale, axis=alt.Axis(format="~%", tickCount=6))
    return alt.vconcat(
        bar.properties(width=width, height=48),
        alt.layer(
            alt.Chart().mark_rule(opacity=0.5).encode(x=alt.datum(0)),
            lines.mark_rule(strokeWidth=3).encode(x=alt.X("low:Q", scale=scale), x2="high:Q"),
            lines.mark_point(filled=True, size=95, opacity=1, stroke=INK, strokeWidth=0.7).encode(x=x),
            lines.mark_text(align="left", baseline="middle", dx=9, dy=-9, fontSize=12).encode(
                x=x, text="told:N", color=alt.value(INK)
            ),
        ).properties(width=width, height=alt.Step(30)),
        spacing=8,
    )


def share_rows(finding: OldFinding) -> list[Row]:
    """The shares that add up to 1, with the words for them and their place in the bar; none below 0 has one."""
    rows: list[Row] = []
    ends: dict[str, float] = {}
    for row in finding.rows:
        if row["value"] is None or row["part_of"] is not None:
            continue
        share = float(str(row["value"]))
        start = ends.get(str(row["dataset"]), 0.0)
        end = ends[str(row["dataset"])] = start + max(share, 0.0)
        words = WORDS.get(str(row["effect"]), str(row["effect"]))
        told = f"{round(100 * share)} %".replace("-", "−")
        rows.append({**row, "component": words, "start": start, "end": end, "told": told})
    return rows
