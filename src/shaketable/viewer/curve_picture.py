"""The fragility curves of a question, drawn with the report's own chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from shaketable.types import Curve, OldFinding


def draw_curves(curves: Sequence[Curve], labels: Mapping[str, str]) -> Markup | None:
    """None without curves."""
    if not curves:
        return None
    # The drawing library takes a second to import; most pages do without.
    from shaketable.report.charts.drawing import draw_svg
    from shaketable.report.charts.fragility_curves import fragility_curves

    rows = [
        {
            "kind": "curve",
            "system": labels[curve.key],
            "question_id": curve.key[:8],
            "temperature": temperature,
            "value": curve.value[i],
            "low": curve.value_low[i],
            "high": curve.value_high[i],
            "certain_low": curve.low[i],
            "certain_high": curve.high[i],
            "breaking": curve.breaking,
        }
        for curve in curves
        for i, temperature in enumerate(curve.temperatures)
    ]
    finding = OldFinding(analysis="weakest_facts", question="How does it break?", rows=tuple(rows))
    return Markup(draw_svg(fragility_curves(finding), "curve"))
