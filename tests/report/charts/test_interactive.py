import dataclasses
import json

import pytest
import vl_convert

from shaketable.report.charts.evidence_drops import evidence_drops
from shaketable.report.charts.interactive import interactive
from shaketable.report.charts.score_by_temperature import score_by_temperature

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


def temperatures(finding, tried):
    """The finding with other temperatures in place of its two."""
    rows = [{**row, "temperature": t} for row in finding.rows if row["temperature"] == 0 for t in tried]
    return dataclasses.replace(finding, rows=tuple(rows))


def test_a_slider_shows_one_temperature_the_coolest_first(finding):
    spec = interactive(evidence_drops(temperatures(finding(), (0.0, 0.5, 1.0)), "contains", slider=True), COLUMNS)
    (param,) = [param for param in spec["params"] if "bind" in param and "value" in param]
    assert param["value"] == 0
    assert param["bind"] == {"input": "range", "name": "Temperature", "min": 0, "max": 1, "step": 0.5}
    (rows,) = spec["datasets"].values()
    assert {row["temperature"] for row in rows} == {0, 0.5, 1}
    assert vl_convert.vegalite_to_svg(spec).count("sentence removal") == vl_convert.vegalite_to_svg(
        interactive(evidence_drops(temperatures(finding(), (0.0,)), "contains"), COLUMNS)
    ).count("sentence removal")


def test_uneven_temperatures_are_chosen_from_a_list(finding):
    chart = evidence_drops(temperatures(finding(), (0.0, 0.2, 1.0)), "contains", slider=True)
    (param,) = [param for param in chart.to_dict()["params"] if "bind" in param]
    assert param["bind"] == {"input": "select", "name": "Temperature", "options": [0, 0.2, 1]}
