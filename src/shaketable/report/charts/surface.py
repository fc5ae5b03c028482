"""Heat maps: a value over two axes, in panels."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from shaketable.report.charts.layout import PLAIN, Axis, Picture, in_panels, panel_width
from shaketable.report.charts.looks import LETTER, write_names
from shaketable.report.charts.marks import Mark, Titles, drawable, names_in

GAPS = alt.Scale(paddingInner=0.04)
LABELS = 210
"""Pixels of the names beside the boxes."""


def surface(marks: Sequence[Mark], titles: Titles, *, axis: Axis | None = None) -> Picture:
    """A box for each mark at `x` and `y`, coloured by its value, which is also written in it.

        marks = [Mark(x=0.6, y="typos", value=0.5, unit="share", panel="smollm2", row="spelling")]
        surface(marks, Titles(row="Asked", y="Evidence", value="Correct answers"))

    Panels, rows and names on the axes stand in the order of the marks, numbers in their own. Colours of shares run from
    0 to 1, others as far as the values do, or as `axis=Axis(domain=(0, 0.8))` says.
    """
    shown = drawable(marks)
    axis = axis or Axis()
    low, high = _domain(shown, axis)
    rows = names_in(str(mark.y) for mark in shown)
    base = alt.Chart().encode(
        x=alt.X("x:O", title=titles.x, scale=GAPS, axis=alt.Axis(labelAngle=0, labelExpr=PLAIN, ticks=False)),
        y=alt.Y(
            "y:N",
            title=None,
            sort=rows,
            scale=GAPS,
            axis=alt.Axis(ticks=False, labelLimit=200 + 2 * LETTER, labelExpr=write_names(rows, 200)),
        ),
    )
    is_share = shown[0].unit == "share"
    numbers = base.mark_text(fontSize=11).encode(
        text=alt.Text("value:Q", format=".0%" if is_share else ".2f"),
        # Black on the light end of the scale, white on its dark end.
        color=alt.condition(
            f"datum.value > {low + 0.6 * (high - low)}",
            alt.value("black"),
            alt.value("white"),
        ),
    )
    legend = alt.Legend(format="~%" if is_share else "~g", gradientLength=200)
    boxes = base.mark_rect().encode(color=_color((low, high), axis.name(titles), legend))
    return in_panels(
        alt.layer(boxes, numbers).properties(height=alt.Step(24)),
        shown,
        width=panel_width(shown, beside=LABELS),
        row_names="beside",
        row_gap=10,
    )


def field(marks: Sequence[Mark], titles: Titles, *, axis: Axis | None = None) -> Picture:
    """The same over two axes of numbers, for a grid so fine that nothing can be written in it.

    marks = [Mark(x=0.525, y=1.05, value=0.4, panel="d = 1")]  # the middle of each cell
    above(field(marks, Titles(panel="d", x="Entropy", y="Breaking temperature", value="FRS"),
                axis=Axis(domain=(0, 0.8))), ...)
    """
    shown = drawable(marks)
    axis = axis or Axis()
    (x_low, x_high, x_step), (y_low, y_high, y_step) = (
        _grid([mark.x for mark in shown]),
        _grid([mark.y for mark in shown]),
    )
    x_ticks, y_ticks = ([low, (low + high) / 2, high] for low, high in ((x_low, x_high), (y_low, y_high)))
    corners = alt.Chart().transform_calculate(
        left=f"datum.x - {x_step / 2}",
        right=f"datum.x + {x_step / 2}",
        bottom=f"datum.y - {y_step / 2}",
        top=f"datum.y + {y_step / 2}",
    )
    legend = alt.Legend(orient="right", direction="vertical", gradientLength=110)
    cells = corners.mark_rect(binSpacing=0).encode(
        x=alt.X(
            "left:Q",
            bin="binned",
            title=titles.x,
            axis=alt.Axis(values=x_ticks, labelExpr=PLAIN),
            scale=alt.Scale(domain=[x_low, x_high]),
        ),
        x2="right:Q",
        y=alt.Y(
            "bottom:Q",
            bin="binned",
            title=titles.y,
            axis=alt.Axis(values=y_ticks, labelExpr=PLAIN),
            scale=alt.Scale(domain=[y_low, y_high]),
        ),
        y2="top:Q",
        color=_color(_domain(shown, axis), axis.name(titles), legend),
    )
    return in_panels(cells.properties(height=130), shown, width=panel_width(shown, beside=130))


def _grid(places: Sequence[float | str | None]) -> tuple[float, float, float]:
    """Where the cells begin and end, and how wide each is."""
    middles = sorted({place for place in places if isinstance(place, int | float)})
    step = middles[1] - middles[0]
    # Sums of steps end in digits that nobody wants to read on an axis.
    return round(middles[0] - step / 2, 9), round(middles[-1] + step / 2, 9), step


def _domain(marks: Sequence[Mark], axis: Axis) -> tuple[float, float]:
    values = [mark.value for mark in marks if mark.value is not None]
    return axis.domain or ((0.0, 1.0) if marks[0].unit == "share" else (min(values), max(values)))


def _color(domain: tuple[float, float], title: str | None, legend: alt.Legend) -> alt.Color:
    return alt.Color("value:Q", title=title, scale=alt.Scale(scheme="viridis", domain=list(domain)), legend=legend)
