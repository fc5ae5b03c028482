"""What each disturbance of the evidence costs, paired by question: a forest plot, largest drop on top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from shaketable.report.charts.few import few
from shaketable.report.charts.looks import WIDTH, evidence_channels, themed
from shaketable.report.charts.panels import ALL_TYPES, Row, worded
from shaketable.types import OldFinding

LABEL_LIMIT = 380
SHOWN = "temperature_shown"
"""The name of the slider's value."""


def evidence_drops(finding: OldFinding, metric: str, *, slider: bool = False) -> alt.TopLevelMixin:
    """A few temperatures side by side; with a slider one at a time, the coolest first, all on one scale."""
    rows = drop_rows(finding, metric)
    tried = sorted({row["temperature"] for row in rows})
    return _at_one(rows, metric, tried) if slider else _side_by_side(rows, metric, few(tried))


def _side_by_side(rows: Sequence[Row], metric: str, temperatures: Sequence[float]) -> alt.TopLevelMixin:
    rows = [row for row in rows if row["temperature"] in temperatures]
    columns = list(dict.fromkeys(row["at"] for row in rows))
    width = (WIDTH - _label_room(rows)) // len(columns) - 20
    order = [row["row"] for row in sorted(rows, key=lambda row: (row["temperature"], -row["value"]))]
    return themed(
        _forest(rows, metric, width, sort=list(dict.fromkeys(order))).facet(
            data=alt.InlineData(rows),
            column=alt.Column("at:N", sort=columns, header=alt.Header(title=None, labelAnchor="start")),
            spacing=20,
        )
    )


def _at_one(rows: Sequence[Row], metric: str, temperatures: Sequence[float]) -> alt.TopLevelMixin:
    shown = alt.param(SHOWN, value=temperatures[0], bind=_input(temperatures))
    ends = [0.0, *(row[name] for row in rows for name in ("value", "low", "high") if row[name] is not None)]
    scale = alt.Scale(domain=[min(ends), max(ends)])
    sort = alt.EncodingSortField(field="value", op="max", order="descending")
    return themed(
        _forest(rows, metric, WIDTH - _label_room(rows), sort=sort, scale=scale)
        .properties(data=alt.InlineData(list(rows)))
        .transform_filter(f"abs(datum.temperature - {SHOWN}) < 1e-6")
        .add_params(shown)
    )


def _input(temperatures: Sequence[float]) -> Any:
    """A slider where the temperatures are evenly spaced, else a list to choose from: it stops at no other value."""
    step = round(temperatures[1] - temperatures[0], 9)
    is_even = all(abs(temperatures[0] + i * step - one) < 1e-6 for i, one in enumerate(temperatures))
    if is_even:
        return alt.binding_range(min=temperatures[0], max=temperatures[-1], step=step, name="Temperature")
    return alt.binding_select(options=list(temperatures), name="Temperature")


def _forest(
    rows: Sequence[Row], metric: str, width: int, *, sort: Any, scale: alt.Scale | None = None
) -> alt.LayerChart:
    share = rows[0]["unit"] == "share"
    channels = evidence_channels(rows, legend=len({row["system"] for row in rows}) > 1)
    x = {
        "title": f"Drop ({'points' if share else metric})",
        "scale": scale or alt.Scale(),
        "axis": alt.Axis(
            tickCount=5 if width > 200 else 3,
            labelExpr="format(datum.value * 100, '~g')" if share else "datum.label",
        ),
    }
    base = alt.Chart().encode(
        x=alt.X("value:Q", **x),
        y=alt.Y("row:N", title=None, sort=sort, axis=alt.Axis(labelLimit=LABEL_LIMIT, ticks=False)),
        color=channels["color"],
    )
    zero = alt.Chart().mark_rule(opacity=0.5).encode(x=alt.datum(0))
    interval = base.mark_rule(strokeWidth=2.5).encode(x=alt.X("low:Q", **x), x2="high:Q")
    point = base.mark_point(filled=True, size=95, opacity=1).encode(shape=channels["shape"])
    return (zero + interval + point).properties(width=width, height=alt.Step(30))


def _label_room(rows: Sequence[Row]) -> int:
    return min(8 * max(len(row["row"]) for row in rows), LABEL_LIMIT + 10)


def drop_rows(finding: OldFinding, metric: str) -> list[Row]:
    """Drops of all questions at every temperature."""
    rows = [
        row
        for row in worded(finding.rows)
        if row["metric"] == metric and row["value"] is not None and row["type"] == ALL_TYPES
        if str(row["contrast"]).startswith("unchanged")
    ]
    all_systems = len({row["system"] for row in rows}) > 1
    return [
        {
            **row,
            "row": f"{row['system']} · {row['evidence']}" if all_systems else row["evidence"],
            "at": f"temperature {row['temperature']:g}",
        }
        for row in sorted(rows, key=lambda row: row["temperature"])
    ]
