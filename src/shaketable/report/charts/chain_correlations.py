"""The chain from wording to answer as rank correlations with their intervals."""

from __future__ import annotations

import altair as alt

from shaketable.report.charts.panels import Row
from shaketable.report.charts.wording_panels import forest, wording_grid, wording_rows
from shaketable.types import OldFinding

LINKS = {
    "loss_mss": "loss → similarity of queries",
    "length_mss": "length → similarity of queries",
    "mss_collapse": "similarity of queries → collapse",
    "mss_rfr": "similarity of queries → failed searches",
    "rfr_gap": "failed searches → change in correctness",
}


def chain_correlations(finding: OldFinding) -> alt.TopLevelMixin:
    rows = chain_rows(finding)
    zero = alt.Chart().mark_rule(strokeDash=[4, 3], opacity=0.6).encode(x=alt.datum(0))
    layers = forest(rows, "Spearman's rho", "Asked", series="asked", y="series", scale=alt.Scale(domain=[-1, 1]))
    return wording_grid(alt.layer(*layers.layer, zero), rows, label_width=250)


def chain_rows(finding: OldFinding) -> list[Row]:
    return wording_rows(finding, LINKS)
