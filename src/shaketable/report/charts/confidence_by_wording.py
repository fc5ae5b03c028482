"""Searches that were needed and not made, and those that were made and not needed, for each way of asking."""

from __future__ import annotations

import altair as alt

from shaketable.report.charts.panels import Row
from shaketable.report.charts.wording_panels import forest, wording_grid, wording_rows
from shaketable.types import OldFinding

SERIES = {"over_confidence": "needed, not made", "under_confidence": "made, not needed"}


def confidence_by_wording(finding: OldFinding) -> alt.TopLevelMixin:
    rows = confidence_rows(finding)
    return wording_grid(forest(rows, "Questions", "Search", number_format="~%"), rows)


def confidence_rows(finding: OldFinding) -> list[Row]:
    return wording_rows(finding, SERIES)
