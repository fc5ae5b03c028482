"""The coefficient of variation against temperature, with the stability baseline as a dotted line."""

from __future__ import annotations

import altair as alt

from shaketable.report.charts.panels import Row, lines, one_per_panel, panel_rows, small_multiples, temperature_axis
from shaketable.types import OldFinding


def variation_by_temperature(finding: OldFinding, metric: str) -> alt.TopLevelMixin:
    rows = one_per_panel(panel_rows(finding, metric), _baseline)
    y = alt.Y("value:Q", title=f"CV of {metric} (sd / mean)", axis=alt.Axis(tickCount=5))
    base = alt.Chart().transform_filter("isValid(datum.baseline)")
    dotted = base.mark_rule(strokeDash=[1, 4], strokeWidth=2, strokeCap="round").encode(y="baseline:Q")
    label = base.mark_text(align="left", baseline="top", fontSize=12, opacity=0.8).encode(
        x=alt.value(6), y=alt.value(2), text="baseline_words:N"
    )
    return small_multiples(alt.layer(lines(rows, temperature_axis(rows), y), dotted, label), rows)


def _baseline(row: Row) -> Row:
    baseline = row["baseline"]
    words = f"stability baseline {baseline:.3g}" if baseline is not None else None
    return {"baseline": baseline, "baseline_words": words}
