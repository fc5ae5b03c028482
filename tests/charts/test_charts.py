from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from shaketable.catalog import find, known
from shaketable.charts.drawing import draw_png, draw_svg
from shaketable.charts.evidence_drops import drop_rows
from shaketable.charts.looks import INK, looks
from shaketable.charts.panels import few, panel_rows
from shaketable.charts.score_by_temperature import score_by_temperature
from shaketable.charts.spark import spark, spark_rows
from shaketable.types import Finding

Make = Callable[..., Finding]


@pytest.mark.parametrize("name", known("chart"))
def test_every_chart_of_the_catalog_draws_svg_and_png(name: str, finding: Make) -> None:
    chart = find("chart", name)(finding(), "contains")
    svg = draw_svg(chart, name)
    assert svg.startswith("<svg")
    assert "sentence removal" in svg
    assert draw_png(chart).startswith(b"\x89PNG")


@pytest.mark.parametrize("name", known("chart"))
def test_every_chart_is_about_a_thousand_pixels_wide(name: str, finding: Make) -> None:
    for systems in (("smollm2",), ("smollm2", "gpt"), ("a", "b", "c", "d")):
        svg = draw_svg(find("chart", name)(finding(systems=systems), "contains"), name)
        width = float(svg.split('width="')[1].split('"')[0])
        assert 850 < width < 1100


def test_lines_take_the_color_of_the_page_so_that_light_and_dark_both_work(finding: Make) -> None:
    svg = draw_svg(score_by_temperature(finding(), "contains"), "score")
    assert f'fill="{INK}"' in svg
    assert 'fill="#fff' not in svg
    assert 'fill="white"' not in svg


def test_an_evidence_has_one_color_dash_and_shape_in_every_picture() -> None:
    alone, together = looks(["sentence removal"]), looks(["unchanged", "sentence removal", "typos"])
    assert alone["sentence removal"] == together["sentence removal"]
    assert len({look.color for look in together.values()}) == 3
    assert len({look.dash for look in together.values()}) == 3
    assert len({look.shape for look in together.values()}) == 3


def test_shares_run_from_zero_to_one_and_scores_do_not_have_to(finding: Make) -> None:
    assert _value_scale(finding())["domain"] == [0, 1]
    assert "domain" not in _value_scale(finding(unit="score"))


def _value_scale(found: Finding) -> dict[str, Any]:
    layers = score_by_temperature(found, "contains").to_dict()["spec"]["layer"]
    return next(layer["encoding"]["y"]["scale"] for layer in layers if "scale" in layer["encoding"]["y"])


def test_panels_show_types_where_there_are_several(finding: Make) -> None:
    assert {row["type"] for row in panel_rows(finding(), "contains")} == {"bridge", "comparison"}
    assert {row["type"] for row in panel_rows(finding(type=None), "contains")} == {"all types"}


def test_the_forest_shows_paired_drops_of_all_types_only(finding: Make) -> None:
    rows = drop_rows(finding(), "contains")
    assert {row["type"] for row in rows} == {"all types"}
    assert {row["row"] for row in rows if row["system"] == "gpt"} == {"gpt · sentence removal", "gpt · typos"}


def test_the_forest_picks_a_few_temperatures_with_both_ends() -> None:
    assert few([0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0]) == [0.0, 0.6, 1.4, 2.0]
    assert few([0.0, 1.0]) == [0.0, 1.0]
    assert few([0.7]) == [0.7]


def test_a_spark_follows_its_row_over_temperatures(finding: Make) -> None:
    found = finding()
    drop = next(row for row in found.rows if row["contrast"] and row["type"] is None)
    rows = spark_rows(found, drop)
    assert [row["temperature"] for row in rows] == [0, 1]
    assert {row["contrast"] for row in rows} == {"unchanged - sentence_removal"}
    assert draw_svg(spark(found, drop), "spark").startswith("<svg")


def test_hostile_names_are_escaped_in_pictures(finding: Make) -> None:
    svg = draw_svg(score_by_temperature(finding(systems=("<script>alert(1)</script>",)), "contains"), "score")
    assert "<script" not in svg
    assert "&lt;script&gt;" in svg
