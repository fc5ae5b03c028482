"""The fragility curves of a question, drawn with the report's own chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from shaketable.report.charts.marks import Mark
from shaketable.types import Curve

PHONE = 330
"""Pixels of a picture on a phone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CurvePicture:
    wide: Markup
    narrow: Markup
    """For a phone: the same curves one below the other. A page shows one of the two."""


def draw_curves(curves: Sequence[Curve], labels: Mapping[str, str]) -> CurvePicture | None:
    """None without curves. `labels` name the system of each record by its key."""
    if not curves:
        return None
    # The drawing library takes a second to import; most pages do without.
    from shaketable.report.charts.drawing import draw_svg
    from shaketable.report.charts.fragility import fragility

    names = {curve.key: f"{labels[curve.key]} · {curve.key[:8]}" for curve in curves}
    marks = [mark for curve in curves for mark in curve_marks(curve, names[curve.key])]
    breaks = {names[curve.key]: curve.breaking for curve in curves if curve.breaking is not None}
    return CurvePicture(
        wide=Markup(draw_svg(fragility(marks, breaks), "curve")),
        narrow=Markup(draw_svg(fragility(marks, breaks, wrap=1, width=PHONE), "narrow-curve")),
    )


def curve_marks(curve: Curve, name: str) -> list[Mark]:
    return [
        Mark(
            x=temperature,
            value=curve.value[i],
            low=curve.value_low[i],
            high=curve.value_high[i],
            at_least=curve.low[i],
            at_most=curve.high[i],
            unit="share",
            panel=name,
        )
        for i, temperature in enumerate(curve.temperatures)
    ]
