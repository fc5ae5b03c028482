"""Kernel densities of the robustness scores of broken facts, with the mass of unbroken ones as a spike at 1."""

from __future__ import annotations

import altair as alt

from shaketable.report.charts.fact_panels import in_panels, scored_facts, system_channels
from shaketable.report.charts.panels import Row
from shaketable.types import OldFinding

N_POINTS = 101


def robustness_density(finding: OldFinding, *, d: int = 1) -> alt.TopLevelMixin:
    """The area under a density is the share of broken facts, the height of a spike ten times that of unbroken ones."""
    rows = density_rows(finding, d)
    channels = system_channels(rows)
    axis = alt.Axis(tickCount=5)
    x = alt.X(
        "frs:Q", title=f"Factual robustness score (d = {d})", scale=alt.Scale(domain=[0, 1.03], nice=False), axis=axis
    )
    y = alt.Y("density:Q", title="Density of broken facts", stack=None, axis=alt.Axis(tickCount=4))
    base = alt.Chart().encode(x=x, color=channels["color"])
    area = base.transform_filter("isValid(datum.density)").mark_area(opacity=0.15, line=True).encode(y=y)
    spikes = base.transform_filter("isValid(datum.unbroken)")
    rule = spikes.mark_rule(strokeWidth=3).encode(
        x="frs:Q", y=alt.Y("spike:Q", title="Density of broken facts"), strokeDash=channels["strokeDash"]
    )
    tip = spikes.mark_text(align="right", baseline="bottom", dx=-6, fontSize=11).encode(y="spike:Q", text="words:N")
    return in_panels(alt.layer(area, rule, tip), rows)


def density_rows(finding: OldFinding, d: int = 1) -> list[Row]:
    """Points of each density, and a row for each spike; too few broken facts to smooth have no density."""
    import numpy as np
    from scipy import stats

    groups: dict[tuple[str, str], list[Row]] = {}
    for row in scored_facts(finding, d):
        groups.setdefault((row["panel"], row["system"]), []).append(row)
    systems = sorted({system for _, system in groups})
    rows: list[Row] = []
    for (panel, system), facts in sorted(groups.items()):
        broken = np.array([row["frs"] for row in facts if row["breaking"] is not None])
        place = {"panel": panel, "system": system}
        if len(set(broken)) > 2:
            at = np.linspace(0, 1, N_POINTS)
            density = stats.gaussian_kde(broken)(at) * len(broken) / len(facts)
            rows += [
                place | {"frs": float(x), "density": float(y), "unbroken": None, "n": len(facts)}
                for x, y in zip(at, density, strict=True)
            ]
        share = 1 - len(broken) / len(facts)
        rows.append(
            place
            | {
                "frs": 1 + 0.006 * systems.index(system),
                "density": None,
                "unbroken": share,
                "spike": 10 * share,
                "words": f"{100 * share:.0f} % unbroken",
                "n": len(facts),
            }
        )
    return rows
