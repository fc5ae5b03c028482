"""Bars: values one after the other on the line of a name, shares that fill one bar, and histograms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import altair as alt

from shaketable.report.charts.forest import ForestStyle, forest
from shaketable.report.charts.layout import PLAIN, Axis, Picture, break_names, channels, in_panels, panel_width
from shaketable.report.charts.looks import INK, WIDTH, Look
from shaketable.report.charts.marks import Mark, Titles, as_data, drawable, names_in


@dataclass(frozen=True, kw_only=True, slots=True)
class BarStyle:
    line_at: float | None = None
    """A broken line through all bars."""
    step: int = 22
    """Pixels of a bar with the gap to the next."""
    width: int = WIDTH
    """Pixels of all panels with their names: less where something else stands beside them."""


def bars(
    marks: Sequence[Mark],
    titles: Titles,
    *,
    looks: Mapping[str, Look] | None = None,
    axis: Axis | None = None,
    style: BarStyle | None = None,
) -> Picture:
    """A bar for each name `x`, of the values of its series one after the other.

        marks = [Mark(x="spelling", value=0.2, unit="share", series="helpful: wrong to right", panel="hotpotqa")]
        bars(marks, Titles(x="Asked", series="Searching was", value="Answers"), looks={"helpful: wrong to right": ...})

    Where each name has one series, intervals are drawn too. Shares run from 0 to 1. Names, panels and rows stand in the
    order of the marks, series in that of `looks`.
    """
    style, axis, shown = style or BarStyle(), axis or Axis(), _in_order(drawable(marks), looks)
    is_share = shown[0].unit == "share"
    names = break_names(
        names_in(str(mark.x) for mark in marks), whole=style.width, n_panels=len(names_in(mark.panel for mark in marks))
    )
    room = style.width - names.room
    channel = channels(shown, titles, looks, width=room)
    x = alt.X(
        "value:Q",
        stack="zero",
        title=axis.name(titles),
        axis=axis.draw(is_share),
        scale=axis.scale((0.0, 1.0) if is_share else None),
    )
    y = alt.Y("x:N", title=None, sort=list(names.lines), axis=names.axis())
    base = alt.Chart().encode(y=y)
    is_plain = len({(mark.x, mark.panel, mark.row) for mark in shown}) == len(shown)
    drawn = _stacked(base.encode(x=x, color=channel.color))
    layers = [drawn.mark_bar(stroke="white", strokeWidth=0.5, opacity=0.75 if is_plain else 1)]
    if is_plain:
        layers.append(base.mark_rule(strokeWidth=1.5).encode(x="low:Q", x2="high:Q"))
    if style.line_at is not None:
        once = alt.Chart().transform_aggregate(n="count()")
        layers.append(once.mark_rule(strokeDash=[4, 3], opacity=0.8).encode(x=alt.datum(style.line_at)))
    return in_panels(
        alt.layer(*layers).properties(height=alt.Step(max(style.step, names.height))),
        shown,
        width=panel_width(shown, beside=0, whole=room),
        row_names="top",
    )


def shares(marks: Sequence[Mark], titles: Titles, *, looks: Mapping[str, Look] | None = None) -> Picture:
    """One bar that shares fill, and below it each share with its interval, beside its name `x`.

        marks = [Mark(x="wording", series="wording", value=0.1, low=0.05, high=0.2, unit="share", panel="hotpotqa")]
        shares(marks, Titles(panel="Dataset", x="Explained by", value="Share of the variation"), looks=...)

    A share below 0 has no place in the bar. Several panels stand side by side, each with its own bar.
    """
    shown = drawable(marks)
    panels = names_in(mark.panel for mark in shown)
    width = WIDTH // len(panels)
    pictures = {
        panel: _filled_bar([mark for mark in shown if mark.panel == panel], titles, looks, width) for panel in panels
    }
    if len(panels) == 1:
        return pictures[panels[0]]
    titled = (picture.properties(title=alt.Title(panel, limit=width)) for panel, picture in pictures.items())
    return alt.hconcat(*titled, spacing=30)


def histogram(
    marks: Sequence[Mark],
    titles: Titles,
    *,
    looks: Mapping[str, Look] | None = None,
    bin_width: float = 0.1,
    span: tuple[float, float] = (0.0, 1.0),
) -> Picture:
    """A bar from `x` to `x` + `bin_width` for each mark, series on top of one another.

    marks = [Mark(x=0.9, value=0.3, unit="share", series="correct", panel="temperature 0.6", row="smollm2")]
    histogram(marks, Titles(x="Certainty", series="Answer", value="Answers", row="System"))
    """
    shown, axis = _in_order(drawable(marks), looks), Axis(n_ticks=4)
    ends = [span[0], (span[0] + span[1]) / 2, span[1]]
    base = alt.Chart().transform_calculate(end=f"datum.x + {bin_width}")
    columns = base.mark_bar().encode(
        x=alt.X(
            "x:Q",
            bin="binned",
            title=titles.x,
            axis=alt.Axis(values=ends, labelExpr=PLAIN),
            scale=alt.Scale(domain=list(span)),
        ),
        x2="end:Q",
        y=alt.Y("value:Q", stack=True, title=axis.name(titles), axis=axis.draw(shown[0].unit == "share")),
        color=channels(shown, titles, looks).color,
    )
    return in_panels(
        _stacked(columns).properties(height=120), shown, width=panel_width(shown), row_names="top", row_gap=20
    )


def _filled_bar(
    marks: Sequence[Mark], titles: Titles, looks: Mapping[str, Look] | None, width: int
) -> alt.VConcatChart:
    alone = [replace(mark, panel="") for mark in marks]
    filling = [mark for mark in alone if mark.value is not None and mark.value >= 0]
    lowest = min([0.0, *(mark.low for mark in marks if mark.low is not None)])
    axis = Axis(domain=(lowest, max(1.0, sum(mark.value or 0.0 for mark in filling))), n_ticks=6)
    bar = (
        _stacked(alt.Chart(alt.InlineData(as_data(filling))))
        .mark_bar(stroke=INK, strokeWidth=0.5, strokeOpacity=0.5, height=44)
        .encode(
            x=alt.X("value:Q", stack="zero", scale=axis.scale(), axis=None),
            color=channels(alone, replace(titles, series=""), looks).color,
        )
    )
    names = break_names(names_in(str(mark.x) for mark in alone), whole=width)
    room = panel_width(alone, beside=names.room, whole=width)
    style = ForestStyle(has_zero_line=True, has_numbers=True, width=width)
    below = forest(alone, replace(titles, series=""), looks=looks, axis=axis, style=style)
    return alt.vconcat(bar.properties(width=room, height=48), below, spacing=8)


def _in_order(marks: Sequence[Mark], looks: Mapping[str, Look] | None) -> list[Mark]:
    """Series in the order of `looks`, in which they are stacked."""
    ranks = {name: i for i, name in enumerate(looks or names_in(mark.series for mark in marks))}
    return sorted(marks, key=lambda mark: ranks[mark.series])


def _stacked(chart: alt.Chart) -> alt.Chart:
    """Series one after the other as the rows come."""
    return chart.transform_window(i="row_number()", groupby=["panel", "row"]).encode(order=alt.Order("i:Q"))
