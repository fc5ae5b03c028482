"""A chart for the page: numbers under the pointer, a series alone by a click in the legend, zoom."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

import altair as alt

from shaketable.report.charts.looks import themed
from shaketable.report.charts.views import Row, Spec, View, keep_fields, views
from shaketable.types import Json

POINTED_AT = ("point", "circle", "square", "bar", "rect", "tick")
"""Marks that stand for a row, so that they can tell its numbers."""
ZOOMABLE = ("line", "point", "circle", "area", "rule", "bar")
PERCENT = ("value", "low", "high", "at_least", "at_most")
ZOOMED = {"expr": "length(data('zoom_store')) > 0"}
"""Marks are cut at the panel's edge once it is zoomed; before, a point on the edge is shown whole."""


def interactive(chart: alt.TopLevelMixin, columns: Mapping[str, str]) -> Spec:
    """The specification of a chart that answers to the pointer; `columns` are the fields to tell, with their titles."""
    spec: Spec = themed(chart).to_dict()
    every = list(views(spec))
    for view in every:
        if view.kind in POINTED_AT:
            view.encoding.setdefault("tooltip", list(_tooltip(view.rows, columns)))
    _add_choice(every)
    _add_zoom(every)
    _drop_unused(spec, columns)
    return spec


def _tooltip(rows: Sequence[Row], columns: Mapping[str, str]) -> Iterator[Spec]:
    """A line for each field that any row has."""
    is_share = bool(rows) and rows[0].get("unit") == "share"
    for name, title in columns.items():
        values = [value for row in rows if (value := row.get(name)) not in (None, "")]
        if values and all(isinstance(value, int | float) for value in values):
            number_format = ".1%" if name in PERCENT and is_share else ",.3~r"
            yield {"field": name, "title": title, "type": "quantitative", "format": number_format}
        elif values:
            yield {"field": name, "title": title, "type": "nominal"}


def _add_choice(every: Sequence[View]) -> None:
    """A click on a name in the legend shows its series alone; Shift adds another, a double click brings all back."""
    first = next((view for view in every if view.has_names and view.has_legend), None)
    if first is None:
        return
    select = {"type": "point", "fields": [first.color_field]}
    first.add_param({"name": "choice", "select": select, "bind": "legend"})
    for view in every:
        if view.has_names and view.color_field == first.color_field:
            full = view.mark.get("opacity", 1)
            shown: Json = {"condition": {"param": "choice", "value": full}, "value": 0.12 * full}
            view.encoding.setdefault("opacity", shown)


def _add_zoom(every: Sequence[View]) -> None:
    """Shift and the wheel zoom, dragging moves, a double click goes back; the wheel alone still scrolls the page."""
    first = next((view for view in every if view.kind in ZOOMABLE and view.continuous_axes), None)
    if first is None:
        return
    select = {"type": "interval", "encodings": first.continuous_axes, "zoom": "wheel![event.shiftKey]"}
    first.add_param({"name": "zoom", "select": select, "bind": "scales"})
    for view in every:
        if view.kind != "text":
            view.mark["clip"] = ZOOMED


def _drop_unused(spec: Spec, columns: Mapping[str, str]) -> None:
    """Fields that nothing draws or tells would double the page."""
    frame = json.dumps({name: value for name, value in spec.items() if name not in ("data", "datasets")})
    keep_fields(spec, {*columns, *re.findall(r"\w+", frame)})
