"""Scores against temperature."""

from __future__ import annotations

import altair as alt

from shaketable.charts.panels import lines, panel_rows, small_multiples, temperature_axis
from shaketable.types import Finding

TITLES = {"contains": "Correct answers", "refusal": "Refused answers", "gibberish": "Garbled answers"}


def score_by_temperature(finding: Finding, metric: str) -> alt.TopLevelMixin:
    rows = panel_rows(finding, metric)
    return small_multiples(lines(rows, temperature_axis(rows), _axis(rows[0]["unit"], metric)), rows)


def _axis(unit: str, metric: str) -> alt.Y:
    """Shares run from 0 to 100 % in every picture; a score has one scale in all panels."""
    if unit == "share":
        title = TITLES.get(metric, metric)
        axis, scale = alt.Axis(format="~%", tickCount=5), alt.Scale(domain=[0, 1])
        return alt.Y("value:Q", title=title, axis=axis, scale=scale)
    return alt.Y("value:Q", title=f"Mean {metric}", axis=alt.Axis(tickCount=5), scale=alt.Scale(zero=False))
