"""What chart forms share: panels side by side and above one another, axes, and a look for each series."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import altair as alt

from shaketable.report.charts.looks import WIDTH, Look, names_legend, ordered_looks
from shaketable.report.charts.marks import Mark, Titles, as_data, names_in
from shaketable.types import Json

GAP = 24
"""Pixels between panels."""
BROKEN = "replace(replace(datum.label, '(', ' · '), regexp('[()\"\\']', 'g'), '')"
"""A label that also breaks before its settings, without their brackets and quotes."""
PLAIN = "format(datum.value, '~g')"
"""A label with all its digits; an axis' own format rounds to the distance of its ticks, and 1.5 to 2."""
POINTS = "format(datum.value * 100, '~g')"
"""A label of a difference between shares."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Axis:
    """Of values. A field that is None follows from their unit: shares in percent and from 0 to 1."""

    title: str | None = None
    """None: what `Titles` call a value; empty: none."""
    numbers: Literal["percent", "points", "plain"] | None = None
    domain: tuple[float, float] | None = None
    has_zero: bool = True
    """Whether an axis without a domain of its own reaches to 0."""
    n_ticks: int = 5

    def name(self, titles: Titles) -> str | None:
        return titles.value or None if self.title is None else self.title or None

    def draw(self, is_share: bool) -> alt.Axis:
        numbers = self.numbers or ("percent" if is_share else "plain")
        if numbers == "points":
            return alt.Axis(labelExpr=POINTS, tickCount=self.n_ticks)
        return alt.Axis(format="~%" if numbers == "percent" else alt.Undefined, tickCount=self.n_ticks)

    def scale(self, domain: tuple[float, float] | None = None) -> alt.Scale:
        """`domain` is taken where the axis has none of its own."""
        ends = self.domain or domain
        if ends is None:
            return alt.Scale(zero=self.has_zero)
        return alt.Scale(domain=list(ends), nice=False, clamp=ends == (0.0, 1.0))


class Channels(NamedTuple):
    """Colour, dash and shape together, so that no series is told by its colour alone."""

    color: alt.Color
    dash: alt.StrokeDash
    shape: alt.Shape


def channels(marks: Sequence[Mark], titles: Titles, looks: Mapping[str, Look] | None) -> Channels:
    """Without `looks` series get theirs in order; a series without a title has no legend."""
    names = names_in(mark.series for mark in marks)
    shown = {name: look for name, look in (looks or ordered_looks(names)).items() if name in names}
    legend = names_legend(shown, symbolStrokeWidth=0) if titles.series else None

    def scale(values: Iterable[str | Sequence[int]]) -> alt.Scale:
        return alt.Scale(domain=list(shown), range=list(values))

    color, dash, shape = (scale(values) for values in zip(*shown.values(), strict=True))
    title = titles.series or None
    return Channels(
        alt.Color("series:N", title=title, sort=None, legend=legend, scale=color),
        alt.StrokeDash("series:N", title=title, sort=None, legend=legend, scale=dash),
        alt.Shape("series:N", title=title, sort=None, legend=legend, scale=shape),
    )


def panel_width(marks: Sequence[Mark], *, beside: int = 60, most: int | None = None) -> int:
    """Of each panel, where `beside` pixels of the whole are taken by labels, and `most` panels stand in one line."""
    n = len(names_in(mark.panel for mark in marks))
    return (WIDTH - beside) // (n if n == 1 else most or n) - GAP


def in_panels(
    layers: alt.LayerChart | alt.Chart,
    marks: Sequence[Mark],
    *,
    more: Sequence[Mapping[str, Json]] = (),
    row_names: Literal["left", "top"] = "left",
    row_gap: int = GAP,
    wrap: int | None = None,
) -> alt.FacetChart:
    """The layers once for each panel and row, in the order of the marks; `more` are rows that only some layers draw.

    Names of rows stand to the left where they are short, and above their panels where they are long.
    """
    panels, rows = names_in(mark.panel for mark in marks), names_in(mark.row for mark in marks)
    data = alt.InlineData([*as_data(marks), *more])
    if wrap is not None:
        header = alt.Header(title=None, labelAnchor="start", labelLimit=WIDTH // wrap - 2 * GAP)
        facet = alt.Facet("panel:N", sort=panels, header=header)
        return layers.facet(data=data, facet=facet, columns=min(wrap, len(panels)), spacing=GAP)
    above = alt.Header(title=None, labelOrient="top", labelAnchor="start", labelLimit=WIDTH // len(panels))
    left = alt.Header(title=None, labelOrient="left", labelLimit=200)
    row = alt.Row("row:N", sort=rows, header=left if row_names == "left" else above)
    return layers.facet(
        data=data,
        column=alt.Column("panel:N", sort=panels, header=panel_header(len(panels)) if panels != [""] else None),
        row=row if rows != [""] else alt.Undefined,
        spacing={"column": GAP, "row": row_gap},
    )


def panel_header(n: int) -> alt.Header:
    """A line for each piece of a system's name, smaller and in shorter lines where many stand side by side."""
    return alt.Header(
        title=None,
        labelOrient="top",
        labelAnchor="start",
        labelExpr=f"split({'datum.label' if n < 3 else BROKEN}, ' · ')",
        labelFontSize=13 if n < 4 else 10,
        labelLimit=(WIDTH - 60) // n,
    )
