"""Certainty of sampled answers as histograms, wrong ones stacked on correct ones, from cool to hot."""

from __future__ import annotations

import altair as alt

from shaketable.report.charts.fact_panels import fact_rows, panel_width
from shaketable.report.charts.few import few
from shaketable.report.charts.looks import themed
from shaketable.report.charts.panels import PLAIN, Row
from shaketable.types import OldFinding

COLORS = {"correct": "#0072B2", "wrong": "#D55E00"}


def certainty_histogram(finding: OldFinding) -> alt.TopLevelMixin:
    rows = histogram_rows(finding)
    temperatures = list(dict.fromkeys(row["at"] for row in rows))
    bars = (
        alt.Chart()
        .mark_bar()
        .encode(
            x=alt.X(
                "bin:Q",
                bin="binned",
                title="Certainty",
                axis=alt.Axis(values=[0, 0.5, 1], labelExpr=PLAIN),
                scale=alt.Scale(domain=[0, 1]),
            ),
            x2="bin_end:Q",
            y=alt.Y("value:Q", stack=True, title="Answers", axis=alt.Axis(format="~%", tickCount=4)),
            color=alt.Color(
                "answer:N", title="Answer", scale=alt.Scale(domain=list(COLORS), range=list(COLORS.values()))
            ),
            order=alt.Order("answer:O"),
        )
    )
    header = alt.Header(title=None, labelAnchor="start")
    return themed(
        bars.properties(width=panel_width(len(temperatures)), height=120).facet(
            data=alt.InlineData(rows),
            column=alt.Column("at:N", sort=temperatures, header=header),
            row=alt.Row(
                "group:N", header=alt.Header(title=None, labelOrient="top", labelAnchor="start", labelLimit=400)
            ),
            spacing=20,
        )
    )


def histogram_rows(finding: OldFinding) -> list[Row]:
    """The bins at a few temperatures, the ends among them."""
    rows = fact_rows(finding, "bin")
    shown = few(sorted({row["temperature"] for row in rows}))
    chosen = [row for row in rows if row["temperature"] in shown]
    chosen.sort(key=lambda row: (row["temperature"], row["system"], row["panel"], row["bin"]))
    several = len({row["panel"] for row in chosen}) > 1
    return [
        {
            **row,
            "bin_end": row["bin"] + 0.1,
            "answer": "correct" if row["is_correct"] else "wrong",
            "at": f"temperature {row['temperature']:g}",
            "group": f"{row['system']} · {row['panel']}" if several else row["system"],
        }
        for row in chosen
    ]
