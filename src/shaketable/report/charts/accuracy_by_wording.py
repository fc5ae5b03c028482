"""Correct answers for each way of asking, a mark per system."""

from __future__ import annotations

from typing import Any

import altair as alt

from shaketable.report.charts.panels import Row
from shaketable.report.charts.wording_panels import forest, wording_grid, wording_rows
from shaketable.types import OldFinding


def accuracy_by_wording(finding: OldFinding) -> alt.TopLevelMixin:
    rows = accuracy_rows(finding)
    layers = forest(rows, "Correct answers", "System", series="system", number_format="~%")
    return wording_grid(layers, rows, row=None)


def accuracy_rows(finding: OldFinding) -> list[Row]:
    """Of the metric that the finding names first."""
    metrics: Any = finding.settings["metrics"]
    return wording_rows(finding, dict.fromkeys(metrics[:1], "score"))
