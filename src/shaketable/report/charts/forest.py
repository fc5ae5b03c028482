"""Forest plots: values with their intervals beside names, a mark per series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import altair as alt

from shaketable.report.charts.layout import (
    Axis,
    BrokenNames,
    Channels,
    Picture,
    RowNames,
    break_names,
    channels,
    in_panels,
    panel_width,
)
from shaketable.report.charts.looks import INK, WIDTH, Look
from shaketable.report.charts.marks import Mark, Titles, as_data, drawable, names_in

SHOWN = "temperature_shown"
"""The name of the slider's value."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ForestStyle:
    has_zero_line: bool = False
    has_numbers: bool = False
    """Whether values are also written beside their marks."""
    row_names: RowNames = "top"
    step: int | None = None
    """Pixels of a mark; None: more where marks of different series stand alone on their lines."""
    width: int = WIDTH
    """Pixels of all panels with their names: less where several forests stand side by side."""
    names: BrokenNames | None = None
    """Those of all forests that stand side by side: only the first writes them; None: those of the marks."""
    has_names: bool = True
    series: tuple[str, ...] = ()
    """Those that each line has room for, also where forests side by side lack some; empty: those of the marks."""


def forest(
    marks: Sequence[Mark],
    titles: Titles,
    *,
    looks: Mapping[str, Look] | None = None,
    axis: Axis | None = None,
    style: ForestStyle | None = None,
) -> Picture:
    """A point with its interval for each mark, on the line of its name `x`; series on one line stand below one another.

    Names, panels, rows and series stand in the order of the marks: sort them first where the largest is to be on top.

        marks = [Mark(x="spelling", value=0.3, low=0.2, high=0.4, unit="share", series="reworded", panel="hotpotqa")]
        forest(marks, Titles(x="Asked", series="Decision", value="Decision to search flips"))

    Differences of shares are in points, around a line at 0: `axis=Axis(numbers="points")`,
    `style=ForestStyle(has_zero_line=True)`. Values of different kinds stand side by side, each on its own axis, by
    `beside(forest(some, titles, looks=looks, style=ForestStyle(width=500)), forest(others, ..., looks=looks, ...))`.
    """
    style, axis, shown = style or ForestStyle(), axis or Axis(), drawable(marks)
    names = style.names or break_names(
        names_in(str(mark.x) for mark in shown), whole=style.width, n_panels=len(names_in(mark.panel for mark in shown))
    )
    room = style.width - (names.room if style.has_names else 0)
    width = panel_width(shown, beside=0, whole=room)
    ticks = replace(axis, n_ticks=axis.n_ticks if width > 200 else 3)
    layers = _layers(shown, titles, channels(shown, titles, looks, width=room), ticks, style, names)
    return in_panels(
        layers.properties(height=alt.Step(style.step or _step(shown, names, style.series))),
        shown,
        width=width,
        row_names=style.row_names,
    )


def sliding_forest(
    marks: Sequence[Mark],
    titles: Titles,
    *,
    looks: Mapping[str, Look] | None = None,
    axis: Axis | None = None,
    style: ForestStyle | None = None,
) -> alt.LayerChart:
    """The same for the page: one `temperature` of the marks at a time, the coolest first, the largest value on top.

    As `draw_live` of a figure whose `draw` is a forest with a few temperatures in panels: `few(temperatures)`.
    """
    style, axis, shown = style or ForestStyle(), axis or Axis(), drawable(marks)
    ends = [0.0, *(end for mark in shown for end in (mark.value, mark.low, mark.high) if end is not None)]
    temperatures = sorted({mark.temperature for mark in shown if mark.temperature is not None})
    slider = alt.param(SHOWN, value=temperatures[0], bind=_input(temperatures, titles.temperature or titles.x))
    largest_first = alt.EncodingSortField(field="value", op="max", order="descending")
    names = break_names(names_in(str(mark.x) for mark in shown), whole=style.width)
    one_scale = replace(axis, domain=(min(ends), max(ends)), is_rounded=True)
    return (
        _layers(shown, titles, channels(shown, titles, looks), one_scale, style, names, largest_first)
        .properties(
            data=alt.InlineData(as_data(shown)),
            width=style.width - names.room,
            height=alt.Step(max(30, names.height)),
        )
        .transform_filter(f"abs(datum.temperature - {SHOWN}) < 1e-6")
        .add_params(slider)
    )


def _layers(
    marks: Sequence[Mark],
    titles: Titles,
    channel: Channels,
    axis: Axis,
    style: ForestStyle,
    names: BrokenNames,
    order: alt.EncodingSortField | None = None,
) -> alt.LayerChart:
    is_share, is_small = marks[0].unit == "share", _step(marks, names, style.series) < 30
    in_order = list(names.lines)
    written = names.axis() if style.has_names else alt.Axis(ticks=False, labels=False)
    written.grid = True
    # Without the domain a picture beside others would lack lines that it has no mark for.
    lines = alt.Y("x:N", title=None, sort=in_order if order is None else order, axis=written)
    if style.names is not None:
        lines.scale = alt.Scale(domain=in_order)
    base = alt.Chart().encode(y=lines, color=channel.color)
    if style.series or _is_crowded(marks):
        series = list(style.series or names_in(mark.series for mark in marks))
        base = base.encode(yOffset=alt.YOffset("series:N", scale=alt.Scale(domain=series)))

    def x(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title=axis.name(titles), axis=axis.draw(is_share), scale=axis.scale())

    edge = 0.7 if style.has_numbers else 0.0
    points = base.mark_point(filled=True, size=60 if is_small else 95, opacity=1, stroke=INK, strokeWidth=edge)
    layers = [
        base.mark_rule(strokeWidth=2 if is_small else 2.5).encode(x=x("low"), x2="high:Q"),
        points.encode(x=x("value"), shape=channel.shape),
    ]
    if style.has_zero_line:  # once in each panel, not for each of its marks
        once = alt.Chart().transform_aggregate(n="count()")
        x_zero = alt.XDatum(0, title=axis.name(titles), axis=axis.draw(is_share), scale=axis.scale())
        layers.insert(0, once.mark_rule(opacity=0.7).encode(x=x_zero))
    if style.has_numbers:
        words = "format(100 * datum.value, '.0f') + ' %'" if is_share else "format(datum.value, '.3~g')"
        written = base.transform_calculate(words=words).encode(x=x("value"), text="words:N", color=alt.value(INK))
        layers.append(written.mark_text(align="left", baseline="middle", dx=9, dy=-9, fontSize=12))
    return alt.layer(*layers)


def _is_crowded(marks: Sequence[Mark]) -> bool:
    """Whether several marks share a line."""
    return len({(mark.x, mark.panel, mark.row, mark.temperature) for mark in marks}) < len(marks)


def _step(marks: Sequence[Mark], names: BrokenNames, series: Sequence[str]) -> int:
    """Pixels of a mark: those of different series that stand alone on their lines get more, and so do long names."""
    n_series = len(series or {mark.series for mark in marks})
    if series or _is_crowded(marks):
        return max(13, names.height // n_series + 1)
    return max(17 if n_series == 1 else 30, names.height)


def _input(temperatures: Sequence[float], title: str) -> alt.BindRange | alt.BindRadioSelect:
    """A slider where the temperatures are evenly spaced, else a list to choose from: it stops at no other value."""
    step = round(temperatures[1] - temperatures[0], 9)
    is_even = all(abs(temperatures[0] + i * step - temperature) < 1e-6 for i, temperature in enumerate(temperatures))
    if is_even:
        return alt.binding_range(min=temperatures[0], max=temperatures[-1], step=step, name=title)
    return alt.binding_select(options=list(temperatures), name=title)
