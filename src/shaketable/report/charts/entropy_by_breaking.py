"""Mean entropy of the facts that break at each temperature: a line per system, a panel per dataset."""

from __future__ import annotations

import altair as alt

from shaketable.report.charts.fact_panels import fact_rows, in_panels, system_lines
from shaketable.report.charts.panels import temperature_axis
from shaketable.types import OldFinding


def entropy_by_breaking(finding: OldFinding) -> alt.TopLevelMixin:
    rows = fact_rows(finding, "entropy")
    x = temperature_axis(rows)
    x.title = "Breaking temperature"
    y = alt.Y("value:Q", title="Mean entropy at temperature 0", axis=alt.Axis(tickCount=5))
    return in_panels(system_lines(rows, x, y), rows)
