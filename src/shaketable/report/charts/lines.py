"""Lines over numbers: a line with points and a band per series, in panels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import altair as alt

from shaketable.report.charts import guides as guiding
from shaketable.report.charts.guides import Guide
from shaketable.report.charts.layout import PLAIN, Axis, Channels, Picture, RowNames, channels, in_panels, panel_width
from shaketable.report.charts.looks import INK, WIDTH, Look
from shaketable.report.charts.marks import Mark, Titles, drawable

OF_MARKS = "!isValid(datum.guide)"


@dataclass(frozen=True, kw_only=True, slots=True)
class LineStyle:
    x: Literal["values", "steps", "span"] = "values"
    """`values`: a tick at each number that marks have, such as temperatures. `steps`: whole numbers at equal distances,
    such as searches. `span`: a plain axis, where there are many numbers."""
    height: int = 200
    has_points: bool = True
    """False: lines alone, in bands that are easier to see, where numbers are many."""
    has_bars: bool = False
    """True: intervals are bars, where each series is a single point."""
    row_names: RowNames = "left"
    """`top` where names of rows are long, such as those of systems."""
    wrap: int | None = None
    """Panels in one line, at most; the rest follow below. None: all, with rows one above the other."""
    width: int = WIDTH
    """Pixels of all panels side by side."""


def lines(
    marks: Sequence[Mark],
    titles: Titles,
    *,
    looks: Mapping[str, Look] | None = None,
    axis: Axis | None = None,
    guides: Sequence[Guide] = (),
    style: LineStyle | None = None,
) -> Picture:
    """A line per series over `x`, in a band from `low` to `high`; from `at_least` to `at_most` reaches a quieter one.

    Panels, rows and series stand in the order of the marks.

        marks = [Mark(x=0.6, value=0.5, low=0.4, high=0.6, unit="share", series="typos", panel="smollm2", row="bridge")]
        titles = Titles(row="Question type", series="Evidence", value="Correctness")
        lines(marks, titles, looks=evidence_looks(mark.series for mark in marks),
              guides=[Guide(kind="ceiling", at=0.6, words="ceiling 0.6", panel="smollm2")])

    Searches one after the other: `style=LineStyle(x="steps", row_names="top")`. Curves with certified bounds:
    `style=LineStyle(x="span", has_points=False, wrap=3, height=150), guides=[Guide(kind="break", at=1.2, panel=...)]`.
    Values that are no shares begin at the lowest one unless `axis=Axis()`, which begins at 0.
    """
    style = style or LineStyle()
    shown = drawable(marks)
    is_share = shown[0].unit == "share"
    axis = axis or Axis(has_zero=is_share)
    x = _x(shown, titles, style)
    y = alt.Y(
        "value:Q",
        title=axis.name(titles),
        axis=axis.draw(is_share),
        scale=axis.scale((0.0, 1.0) if is_share and axis.numbers is None else None),
    )
    layers = alt.layer(
        *guiding.behind(guides, titles.x),
        *_series(shown, channels(shown, titles, looks), x, y, style),
        *guiding.before(guides, titles.x),
    )
    return in_panels(
        layers.properties(height=style.height),
        shown,
        width=panel_width(shown, most=style.wrap, whole=style.width),
        more=guiding.guide_data(guides, shown),
        row_names=style.row_names,
        wrap=style.wrap,
    )


def _x(marks: Sequence[Mark], titles: Titles, style: LineStyle) -> alt.X:
    values = sorted({mark.x for mark in marks if isinstance(mark.x, int | float)})
    if style.x == "steps":
        return alt.X("x:O", title=titles.x, axis=alt.Axis(values=values, labelAngle=0))
    if style.x == "span":
        padding = 12 if style.has_bars else alt.Undefined  # A bar at the end would be taken for the axis.
        axis = alt.Axis(grid=False, tickCount=5)
        return alt.X("x:Q", title=titles.x, axis=axis, scale=alt.Scale(padding=padding))
    return alt.X(
        "x:Q",
        title=titles.x,
        axis=alt.Axis(values=values, labelExpr=PLAIN, grid=False, labelOverlap=True),
        scale=alt.Scale(domain=[values[0], values[-1]], nice=False, padding=8),
    )


def _series(marks: Sequence[Mark], channel: Channels, x: alt.X, y: alt.Y, style: LineStyle) -> list[alt.Chart]:
    base = alt.Chart().transform_filter(OF_MARKS).encode(x=x, color=channel.color)
    bounds = base.mark_area(opacity=0.1).encode(y="at_least:Q", y2="at_most:Q", color=alt.value(INK), detail="series:N")
    band = base.mark_area(opacity=0.11 if style.has_points else 0.25)
    if style.has_bars:
        band = base.mark_rule(strokeWidth=2)
    band = band.encode(y="low:Q", y2="high:Q")
    line = base.mark_line(strokeWidth=2).encode(y=y, strokeDash=channel.dash)
    points = base.mark_point(filled=True, size=55, opacity=1).encode(y=y, shape=channel.shape)
    has_bounds = any(mark.at_least is not None for mark in marks)
    return [*([bounds] if has_bounds else []), band, line, *([points] if style.has_points else [])]
