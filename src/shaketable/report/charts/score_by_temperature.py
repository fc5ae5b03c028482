"""Scores against temperature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import altair as alt

from shaketable.factors import title_of
from shaketable.report.charts.looks import INK
from shaketable.report.charts.panels import Row, lines, one_per_panel, panel_rows, small_multiples, temperature_axis
from shaketable.types import OldFinding

Band = Literal["interval", "sd"]


def score_by_temperature(finding: OldFinding, metric: str, *, band: Band = "interval") -> alt.TopLevelMixin:
    """Bands are intervals, or ± the standard deviation between runs. A row's `ceiling` is marked, and shaded beyond."""
    rows = banded(panel_rows(finding, metric), band)
    rows = one_per_panel(rows, _ceiling(max(row["temperature"] for row in rows)))
    curves = lines(rows, temperature_axis(rows), _axis(rows[0]["unit"], metric))
    return small_multiples(alt.layer(_shade(), curves, *_rule()), rows)


def banded(rows: list[Row], band: Band) -> list[Row]:
    """The rows with the ends of their bands as low and high; a single run has no deviation and no band."""
    if band == "interval":
        return rows
    return [
        {
            **row,
            "low": None if row["sd_runs"] is None else row["value"] - row["sd_runs"],
            "high": None if row["sd_runs"] is None else row["value"] + row["sd_runs"],
        }
        for row in rows
    ]


def _axis(unit: str, metric: str) -> alt.Y:
    """Shares run from 0 to 100 % in every picture; a score has one scale in all panels."""
    if unit == "share":
        title = title_of(metric)
        axis, scale = alt.Axis(format="~%", tickCount=5), alt.Scale(domain=[0, 1], clamp=True)
        return alt.Y("value:Q", title=title, axis=axis, scale=scale)
    return alt.Y("value:Q", title=f"Mean {metric}", axis=alt.Axis(tickCount=5), scale=alt.Scale(zero=False))


def _ceiling(hottest: float) -> Callable[[Row], Row]:
    """The ceiling of a row with its words, to the right of the mark or, where there is no room, to the left."""

    def marked(row: Row) -> Row:
        ceiling = row.get("ceiling")
        words = None if ceiling is None else f"ceiling {ceiling:g}"
        is_far = ceiling is not None and ceiling > 0.6 * hottest
        return {
            "ceiling": ceiling,
            "words_right": None if is_far else words,
            "words_left": words if is_far else None,
        }

    return marked


def _marked(field: str = "ceiling") -> alt.Chart:
    return alt.Chart().transform_filter(f"isValid(datum.{field})").encode(x=alt.X("ceiling:Q", title="Temperature"))


def _shade() -> alt.Chart:
    return _marked().mark_rect(opacity=0.07, color=INK).encode(x2=alt.value("width"))


def _rule() -> list[alt.Chart]:
    sides = (("words_right", "left", 5), ("words_left", "right", -5))
    return [
        _marked().mark_rule(strokeWidth=1.5, strokeDash=[6, 3]),
        *(
            _marked(field)
            .mark_text(align=align, baseline="top", dx=dx, dy=3, fontSize=12)
            .encode(y=alt.value(0), text=f"{field}:N")
            for field, align, dx in sides
        ),
    ]
