"""How often rewording flips the decision to search, beside how often chance alone does."""

from __future__ import annotations

import altair as alt

from shaketable.report.charts.panels import Row
from shaketable.report.charts.wording_panels import forest, wording_grid, wording_rows
from shaketable.types import OldFinding

SERIES = {"flip_any": "reworded", "noise_any": "the same wording again"}


def flip_rates(finding: OldFinding) -> alt.TopLevelMixin:
    rows = flip_rows(finding)
    return wording_grid(forest(rows, "Decision to search flips", "Asked", number_format="~%"), rows)


def flip_rows(finding: OldFinding) -> list[Row]:
    return wording_rows(finding, SERIES)
