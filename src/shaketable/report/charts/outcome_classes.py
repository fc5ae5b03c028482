"""What searching did to the answer, as bars that sum to all answers, for each way of asking."""

from __future__ import annotations

import altair as alt

from shaketable.report.charts.panels import Row
from shaketable.report.charts.wording_panels import in_order, wording_grid, wording_rows
from shaketable.types import OldFinding

CLASSES = {
    "helpful": ("helpful: wrong to right", "#009E73"),
    "stable": ("stable: right and right", "#56B4E9"),
    "unhelpful": ("unhelpful: wrong and wrong", "#E69F00"),
    "harmful": ("harmful: right to wrong", "#D55E00"),
}


def outcome_classes(finding: OldFinding) -> alt.TopLevelMixin:
    rows = outcome_rows(finding)
    color = alt.Color(
        "series:N",
        title="Searching was",
        sort=None,
        scale=alt.Scale(
            domain=[words for words, _ in CLASSES.values()], range=[color for _, color in CLASSES.values()]
        ),
        legend=alt.Legend(symbolSize=90, labelLimit=400),
    )
    bars = (
        alt.Chart()
        .mark_bar(stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X(
                "value:Q", stack="zero", title="Answers", axis=alt.Axis(format="~%"), scale=alt.Scale(domain=[0, 1])
            ),
            y=alt.Y("asked:N", title=None, sort=in_order(rows, "asked"), axis=alt.Axis(ticks=False, labelLimit=260)),
            color=color,
            order=alt.Order("place:O"),
        )
    )
    return wording_grid(bars, rows, height=alt.Step(22))


def outcome_rows(finding: OldFinding) -> list[Row]:
    places = list(CLASSES)
    rows = wording_rows(finding, {name: words for name, (words, _) in CLASSES.items()})
    return [{**row, "place": places.index(row["metric"])} for row in rows]
