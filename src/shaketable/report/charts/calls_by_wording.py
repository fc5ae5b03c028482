"""Mean searches and model calls for each way of asking."""

from __future__ import annotations

import altair as alt

from shaketable.report.charts.panels import Row
from shaketable.report.charts.wording_panels import forest, wording_grid, wording_rows
from shaketable.types import OldFinding

SERIES = {"n_searches": "searches", "n_calls": "model calls"}


def calls_by_wording(finding: OldFinding) -> alt.TopLevelMixin:
    rows = call_rows(finding)
    return wording_grid(forest(rows, "Mean per question", "Count", scale=alt.Scale(zero=True)), rows)


def call_rows(finding: OldFinding) -> list[Row]:
    return wording_rows(finding, SERIES)
