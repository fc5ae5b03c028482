"""A chart for the page: numbers under the pointer, a series alone by a click in the legend, zoom."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt

from shaketable.report.charts.looks import themed

Spec = dict[str, Any]
POINTED_AT = ("point", "circle", "square", "bar", "rect", "tick")
"""Marks that stand for a row, so that they can tell its numbers."""
PERCENT = ("value", "low", "high", "lowest", "q1", "median", "q3", "highest")
CONTINUOUS = ("quantitative", "temporal")
ZOOMED = {"expr": "length(data('zoom_store')) > 0"}
"""Marks are cut at the panel's edge once it is zoomed; before, a point on the edge is shown whole."""


def interactive(chart: alt.TopLevelMixin, columns: Mapping[str, str]) -> Spec:
    """The specification of a chart that answers to the pointer; `columns` are the fields to tell, with their titles."""
    spec: Spec = themed(chart).to_dict()
    units = list(_units(spec, spec, []))
    for unit, rows in units:
        if _kind(unit) in POINTED_AT:
            unit["encoding"]["tooltip"] = _tooltip(rows, columns)
    _add_choice([unit for unit, _ in units])
    _add_zoom([unit for unit, _ in units])
    _drop_unused(spec, columns)
    return spec


def _units(
    spec: Spec, top: Spec, rows: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[Spec, Sequence[Mapping[str, Any]]]]:
    """Every single view with the rows it draws."""
    rows = _rows(spec, top) or rows
    for name in ("layer", "hconcat", "vconcat", "concat"):
        for inner in spec.get(name, ()):
            yield from _units(inner, top, rows)
    if "spec" in spec:
        yield from _units(spec["spec"], top, rows)
    if "mark" in spec:
        spec.setdefault("encoding", {})
        yield spec, rows


def _rows(spec: Spec, top: Spec) -> list[Mapping[str, Any]]:
    data = spec.get("data") or {}
    values = data.get("values") or top.get("datasets", {}).get(data.get("name"), [])
    return values if isinstance(values, list) else []


def _kind(unit: Spec) -> str:
    mark = unit["mark"]
    return str(mark["type"] if isinstance(mark, dict) else mark)


def _tooltip(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> list[Spec]:
    first = rows[0] if rows else {}
    told = []
    for name, title in columns.items():
        values = [row.get(name) for row in rows]
        if name not in first or all(value is None for value in values):
            continue
        is_number = all(value is None or isinstance(value, int | float) for value in values)
        shown: Spec = {"field": name, "title": title, "type": "quantitative" if is_number else "nominal"}
        if is_number:
            shown["format"] = ".1%" if name in PERCENT and first.get("unit") == "share" else ",.3~r"
        told.append(shown)
    return told


def _add_choice(units: Sequence[Spec]) -> None:
    """A click on a name in the legend shows its series alone; Shift adds another, a double click brings all back."""
    colored = [unit for unit in units if unit["encoding"].get("color", {}).get("type") in ("nominal", "ordinal")]
    with_legend = [unit for unit in colored if unit["encoding"]["color"].get("legend", True) is not None]
    if not with_legend:
        return
    field = with_legend[0]["encoding"]["color"]["field"]
    choice = {"name": "choice", "select": {"type": "point", "fields": [field]}, "bind": "legend"}
    with_legend[0].setdefault("params", []).append(choice)
    for unit in colored:
        if unit["encoding"]["color"]["field"] == field and "opacity" not in unit["encoding"]:
            mark = unit["mark"] if isinstance(unit["mark"], dict) else {"type": unit["mark"]}
            full = mark.get("opacity", 1)
            unit["encoding"]["opacity"] = {"condition": {"param": "choice", "value": full}, "value": 0.12 * full}


def _add_zoom(units: Sequence[Spec]) -> None:
    """Shift and the wheel zoom, dragging moves, a double click goes back; the wheel alone still scrolls the page."""
    for unit in units:
        axes = [name for name in ("x", "y") if _is_continuous(unit["encoding"].get(name, {}))]
        if not axes or _kind(unit) not in ("line", "point", "circle", "area", "rule", "bar"):
            continue
        select = {"type": "interval", "encodings": axes, "zoom": "wheel![event.shiftKey]"}
        unit.setdefault("params", []).append({"name": "zoom", "select": select, "bind": "scales"})
        for other in units:
            mark = other["mark"] if isinstance(other["mark"], dict) else {"type": other["mark"]}
            other["mark"] = {**mark, "clip": ZOOMED} if mark["type"] != "text" else mark
        return


def _is_continuous(channel: Mapping[str, Any]) -> bool:
    has_field = "field" in channel and channel.get("type") in CONTINUOUS
    return has_field and not channel.get("bin") and not channel.get("aggregate")


def _drop_unused(spec: Spec, columns: Mapping[str, str]) -> None:
    """Sentences and settings that rows carry along would double the page."""
    every = [spec.get("data", {}).get("values"), *spec.get("datasets", {}).values()]
    frame = json.dumps({name: value for name, value in spec.items() if name not in ("data", "datasets")})
    used = {*columns, *re.findall(r"\w+", frame)}
    for values in every:
        if isinstance(values, list) and values and isinstance(values[0], dict):
            values[:] = [{name: value for name, value in row.items() if name in used} for row in values]
