import json

import pytest
import vl_convert

from shaketable.charts.evidence_drops import evidence_drops
from shaketable.charts.interactive import interactive
from shaketable.charts.score_by_temperature import score_by_temperature

COLUMNS = {"evidence": "Evidence", "value": "Value", "low": "Low", "n": "Questions", "nowhere": "Not in the rows"}


@pytest.fixture
def spec(finding):
    return interactive(score_by_temperature(finding(), "contains"), COLUMNS)


def units(spec):
    inner = [unit for name in ("layer", "spec") for unit in _listed(spec.get(name))]
    return [spec] if "mark" in spec else [unit for one in inner for unit in units(one)]


def _listed(value):
    return value if isinstance(value, list) else [value] if value else []


def test_a_point_tells_the_numbers_of_its_row(spec):
    (point,) = [unit for unit in units(spec) if unit["mark"]["type"] == "point"]
    told = {one["field"]: one for one in point["encoding"]["tooltip"]}
    assert list(told) == ["evidence", "value", "low", "n"]
    assert told["value"]["format"] == ".1%"  # contains is a share
    assert told["evidence"]["type"] == "nominal"


def test_a_series_can_be_seen_alone_and_a_panel_zoomed(spec):
    params = [param for unit in units(spec) for param in unit.get("params", ())]
    assert sorted(param["name"] for param in params) == ["choice", "zoom"]
    faded = [unit for unit in units(spec) if unit["encoding"].get("opacity", {}).get("condition")]
    assert {unit["mark"]["type"] for unit in faded} == {"area", "line", "point"}


def test_the_wheel_alone_still_scrolls_the_page(spec):
    assert '"zoom": "wheel![event.shiftKey]"' in json.dumps(spec)


def test_rows_keep_only_what_is_drawn_or_told(spec, finding):
    (rows,) = spec["datasets"].values()
    kept = rows[0].keys()
    assert {"evidence", "value", "low", "n", "temperature", "panel"} <= kept
    assert "dataset" in finding().rows[0]
    assert "dataset" not in kept


@pytest.mark.parametrize("chart", [score_by_temperature, evidence_drops])
def test_the_drawing_library_takes_it(chart, finding):
    made = interactive(chart(finding(), "contains"), COLUMNS)
    compiled = vl_convert.vegalite_to_vega(made)
    assert compiled["marks"]
    assert any(signal["name"] == "zoom" for signal in compiled["signals"])
