from __future__ import annotations

import json
from typing import Any

import pytest
import vl_convert
from drawn import HOSTILE, layers

from shaketable.report.charts.bars import bars, histogram, shares
from shaketable.report.charts.boxes import boxes
from shaketable.report.charts.density import density
from shaketable.report.charts.forest import forest, sliding_forest
from shaketable.report.charts.guides import Guide
from shaketable.report.charts.interactive import interactive
from shaketable.report.charts.layout import Picture, above, beside
from shaketable.report.charts.lines import lines
from shaketable.report.charts.marks import Mark, Titles
from shaketable.report.charts.scatter import scatter
from shaketable.report.charts.surface import field, surface

TITLES = Titles(panel="", series="Evidence", value="Correct answers", n="Questions", n_missing="Records missing")
MARKS = [
    Mark(x=x, y=y, value=0.5, low=0.4, high=0.6, unit="share", series=series, panel="a", temperature=x, n=7)
    for series in ("typos", HOSTILE)
    for x in (0.0, 0.5)
    for y in (0.0, 1.0)
]
GUIDES = (Guide(kind="ceiling", at=0.5, words="ceiling"),)
FORMS: dict[str, Picture] = {
    "lines": lines(MARKS, TITLES, guides=GUIDES),
    "forest": forest(MARKS, TITLES),
    "sliding": sliding_forest(MARKS, TITLES),
    "beside": beside(forest(MARKS, TITLES), bars(MARKS, TITLES)),
    "boxes": boxes(MARKS, TITLES),
    "surface": surface(MARKS, TITLES),
    "fields": above(field(MARKS, TITLES), field(MARKS, TITLES)),
    "bars": bars(MARKS, TITLES),
    "shares": shares(MARKS, TITLES),
    "histogram": histogram(MARKS, TITLES),
    "density": density(MARKS, TITLES),
    "scatter": scatter(MARKS, TITLES),
}


@pytest.fixture
def spec() -> dict[str, Any]:
    return interactive(FORMS["lines"], TITLES.columns())


@pytest.mark.parametrize("name", FORMS)
def test_the_drawing_library_takes_every_form(name: str) -> None:
    compiled = vl_convert.vegalite_to_vega(interactive(FORMS[name], TITLES.columns()))
    assert compiled["marks"]
    # On surfaces, and where boxes are measured, there is nothing to zoom into.
    has_zoom = any(signal["name"] == "zoom" for signal in compiled["signals"])
    assert has_zoom == (name not in ("surface", "fields"))


def test_a_point_tells_the_numbers_of_its_mark(spec: dict[str, Any]) -> None:
    (point,) = [layer for layer in layers(spec) if layer["mark"]["type"] == "point"]
    lines_of = {line["field"]: line for line in point["encoding"]["tooltip"]}
    assert list(lines_of) == ["series", "x", "value", "low", "high", "n"]  # none is known to be missing
    assert lines_of["value"] == {
        "field": "value",
        "title": "Correct answers",
        "type": "quantitative",
        "format": ".1%",  # a share
    }
    assert lines_of["series"]["type"] == "nominal"
    assert lines_of["n"]["format"] == ",.3~r"


def test_the_shade_beyond_a_ceiling_stands_for_no_number(spec: dict[str, Any]) -> None:
    (shade,) = [layer for layer in layers(spec) if layer["mark"]["type"] == "rect"]
    assert shade["encoding"]["tooltip"] == {"value": None}


def test_a_series_can_be_seen_alone_and_a_panel_zoomed(spec: dict[str, Any]) -> None:
    params = [param for layer in layers(spec) for param in layer.get("params", ())]
    assert sorted(param["name"] for param in params) == ["choice", "zoom"]
    faded = [layer for layer in layers(spec) if layer["encoding"].get("opacity", {}).get("condition")]
    assert {layer["mark"]["type"] for layer in faded} == {"area", "line", "point"}


def test_without_a_legend_there_is_nothing_to_choose() -> None:
    titles = Titles(value="Correct answers")
    assert '"choice"' not in json.dumps(interactive(lines(MARKS, titles), titles.columns()))


def test_the_wheel_alone_still_scrolls_the_page(spec: dict[str, Any]) -> None:
    assert '"zoom": "wheel![event.shiftKey]"' in json.dumps(spec)


def test_rows_keep_only_what_is_drawn_or_told(spec: dict[str, Any]) -> None:
    (rows,) = spec["datasets"].values()
    assert {"series", "value", "low", "n", "x", "panel"} <= rows[0].keys()
    assert not {"temperature", "at_least", "at_most"} & rows[0].keys()


def test_the_chart_itself_stays_as_it_was() -> None:
    chart = lines(MARKS, TITLES)
    before = chart.to_json()
    interactive(chart, TITLES.columns())
    assert chart.to_json() == before
