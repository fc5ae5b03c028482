"""What chart forms share: panels side by side and above one another, axes, and a look for each series."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

import altair as alt

from shaketable.report.charts.looks import WIDTH, Look, names_legend, ordered_looks
from shaketable.report.charts.marks import Mark, Titles, as_data, names_in
from shaketable.types import Json

GAP = 24
"""Pixels between panels."""
HEADER_LETTER, LETTER, LABEL_LIMIT = 9, 8, 380
"""Pixels of a letter above a panel and on an axis of names, and of the longest line there."""
LEAST_PANEL, LEAST_NAMES, LINE, MOST_LINES = 100, 120, 15, 3
"""Pixels of the narrowest panel, of the room that names have at least, and of a line of them; lines of a name."""
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
    is_rounded: bool = False
    """Whether the domain is widened to round numbers."""
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
        return alt.Scale(domain=list(ends), nice=self.is_rounded, clamp=ends == (0.0, 1.0))


RowNames = Literal["left", "beside", "top"]
"""Names of rows of panels: turned, to the left; not turned, where panels are low; above them, where names are long."""
Picture: TypeAlias = alt.Chart | alt.LayerChart | alt.FacetChart | alt.HConcatChart | alt.VConcatChart
"""What a form gives: it is drawn as it is, or beside and above others."""


class Channels(NamedTuple):
    """Colour, dash and shape together, so that no series is told by its colour alone."""

    color: alt.Color
    dash: alt.StrokeDash
    shape: alt.Shape


def channels(
    marks: Sequence[Mark], titles: Titles, looks: Mapping[str, Look] | None, *, width: int = WIDTH
) -> Channels:
    """Without `looks` series get theirs in order; a series without a title has no legend, others one of this width.

    All `looks` are in the legend, so that pictures side by side that lack some series still share it.
    """
    shown = looks or ordered_looks(names_in(mark.series for mark in marks))
    legend = names_legend(shown, width=width) if titles.series else None

    def scale(values: Iterable[str | Sequence[int]]) -> alt.Scale:
        return alt.Scale(domain=list(shown), range=list(values))

    color, dash, shape = (scale(values) for values in zip(*shown.values(), strict=True))
    title = titles.series or None
    return Channels(
        alt.Color("series:N", title=title, sort=None, legend=legend, scale=color),
        alt.StrokeDash("series:N", title=title, sort=None, legend=legend, scale=dash),
        alt.Shape("series:N", title=title, sort=None, legend=legend, scale=shape),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class BrokenNames:
    """Names beside an axis, broken into lines so that the panels stay wide enough to read."""

    lines: Mapping[str, Sequence[str]]
    """Name → what is written, line by line."""

    @property
    def room(self) -> int:
        """Pixels that the names take."""
        return LETTER * max(len(line) for lines in self.lines.values() for line in lines)

    @property
    def height(self) -> int:
        """Pixels of the name with the most lines."""
        return LINE * max(map(len, self.lines.values()))

    def axis(self) -> alt.Axis:
        return alt.Axis(
            ticks=False, labelLimit=LABEL_LIMIT + GAP, labelExpr=f"({json.dumps(dict(self.lines))})[datum.label]"
        )


def break_names(names: Sequence[str], *, whole: int = WIDTH, n_panels: int = 1) -> BrokenNames:
    """Break the names beside `n_panels` panels that share `whole` pixels with them.

    A name that is too long for its lines loses its middle; names that then read alike are numbered.
    """
    room = min(LABEL_LIMIT, max(LEAST_NAMES, whole - n_panels * (LEAST_PANEL + GAP)))
    lines: dict[str, tuple[str, ...]] = {}
    for name in names:
        broken = _break(name, room // LETTER)
        n_alike = sum(other[: len(broken)] == broken for other in lines.values())
        lines[name] = (*broken, f"({n_alike + 1})") if n_alike else broken
    return BrokenNames(lines=lines)


def _break(name: str, letters: int) -> tuple[str, ...]:
    """At most MOST_LINES lines of so many letters."""
    kept, written = len(name), name
    while len(lines := textwrap.wrap(written, letters)) > MOST_LINES:
        kept = min(kept - 2, letters * MOST_LINES)
        written = f"{name[: kept // 2]}…{name[-(kept // 2) :]}"
    return tuple(lines) or ("",)


def panel_width(marks: Sequence[Mark], *, beside: int = 60, most: int | None = None, whole: int = WIDTH) -> int:
    """Of each panel, where `beside` pixels of the whole are taken by labels, and `most` panels stand in one line."""
    n = len(names_in(mark.panel for mark in marks))
    return max(LEAST_PANEL, (whole - beside) // (n if n == 1 else most or n) - GAP)


def in_panels(
    layers: alt.LayerChart | alt.Chart,
    marks: Sequence[Mark],
    *,
    width: int,
    more: Sequence[Mapping[str, Json]] = (),
    row_names: RowNames = "left",
    row_gap: int = GAP,
    wrap: int | None = None,
) -> Picture:
    """The layers once for each panel and row, in the order of the marks; `more` are rows that only some layers draw."""
    panels, rows = names_in(mark.panel for mark in marks), names_in(mark.row for mark in marks)
    data = alt.InlineData([*as_data([*marks, *_fill_empty_panels(marks, panels, rows)]), *more])
    layers = layers.properties(width=width)
    if panels == rows == [""]:
        return layers.properties(data=data)
    if wrap is not None:
        header = alt.Header(title=None, labelAnchor="start", labelLimit=width)
        facet = alt.Facet("panel:N", sort=panels, header=header)
        return layers.facet(data=data, facet=facet, columns=min(wrap, len(panels)), spacing=GAP)
    headers = {
        "left": alt.Header(title=None, labelOrient="left", labelLimit=200),
        "beside": alt.Header(title=None, labelOrient="left", labelAngle=0, labelAlign="left", labelLimit=110),
        "top": alt.Header(title=None, labelOrient="top", labelAnchor="start", labelLimit=width),
    }
    row = alt.Row("row:N", sort=rows, header=headers[row_names])
    return layers.facet(
        data=data,
        column=alt.Column("panel:N", sort=panels, header=panel_header(panels, width) if panels != [""] else None),
        row=row if rows != [""] else alt.Undefined,
        spacing={"column": GAP, "row": row_gap},
    )


def _fill_empty_panels(marks: Sequence[Mark], panels: Sequence[str], rows: Sequence[str]) -> list[Mark]:
    """A mark without a value for each panel of a row that has none: the library would sort an empty one first, and
    push all others out of their place."""
    full = {(mark.panel, mark.row) for mark in marks}
    nothing = replace(marks[0], value=None, low=None, high=None, at_least=None, at_most=None)
    return [replace(nothing, panel=panel, row=row) for row in rows for panel in panels if (panel, row) not in full]


def panel_header(names: Sequence[str], width: int) -> alt.Header:
    """A line for each piece of a system's name; shorter and smaller where many long ones stand side by side."""
    n = len(names)
    is_tight = n > 3 and max(len(piece) for name in names for piece in name.split(" · ")) * HEADER_LETTER > width
    return alt.Header(
        title=None,
        labelOrient="top",
        labelAnchor="start",
        labelExpr=f"split({'datum.label' if n < 3 else BROKEN}, ' · ')",
        labelFontSize=10 if is_tight else 13,
        labelLimit=width + GAP,
    )


def beside(*pictures: Picture) -> alt.HConcatChart:
    """Side by side, each on its own axes, with one legend; all must be given the same `looks`."""
    return alt.hconcat(*pictures, spacing=30).resolve_scale(color="shared", shape="shared")


def above(*pictures: Picture) -> alt.VConcatChart:
    """One above the other, each on its own axes and in its own colours."""
    return alt.vconcat(*pictures, spacing=GAP).resolve_scale(color="independent")
