from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from shaketable.catalog import find
from shaketable.report.charts.drawing import draw_png, draw_svg
from shaketable.report.charts.evidence_drops import drop_rows
from shaketable.report.charts.few import few
from shaketable.report.charts.looks import INK, looks
from shaketable.report.charts.panels import panel_rows
from shaketable.report.charts.score_boxes import box_rows, cool_and_hot, score_boxes
from shaketable.report.charts.score_by_temperature import banded, score_by_temperature
from shaketable.report.charts.spark import spark, spark_rows
from shaketable.types import OldFinding

Make = Callable[..., OldFinding]
OF_EVIDENCE = ("evidence_drops", "score_boxes", "score_by_temperature", "variation_by_temperature")
"""Charts that show disturbed evidence; others have tests of their own."""


@pytest.mark.parametrize("name", OF_EVIDENCE)
def test_every_chart_of_evidence_draws_svg_and_png(name: str, finding: Make) -> None:
    chart = find("chart", name)(finding(), "contains")
    svg = draw_svg(chart, name)
    assert svg.startswith("<svg")
    assert "removal" in svg and "typos" in svg  # a long name may take two lines
    assert draw_png(chart).startswith(b"\x89PNG")


@pytest.mark.parametrize("name", OF_EVIDENCE)
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


def _value_scale(found: OldFinding) -> dict[str, Any]:
    axes = [layer["encoding"].get("y", {}) for layer in _layers(score_by_temperature(found, "contains").to_dict())]
    return next(axis["scale"] for axis in axes if "scale" in axis)


def _drawn_rows(chart: Any) -> list[dict[str, Any]]:
    (rows,) = chart.to_dict()["datasets"].values()
    return list(rows)


def _layers(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """The layers that draw, however deep they are nested."""
    inner = spec.get("layer") or ([spec["spec"]] if "spec" in spec else [])
    return [layer for one in inner for layer in _layers(one)] if inner else [spec]


def test_types_stand_in_the_order_of_the_paper(finding: Make) -> None:
    assert score_by_temperature(finding(), "contains").to_dict()["facet"]["row"]["sort"] == ["comparison", "bridge"]


def test_bands_are_intervals_or_deviations_between_runs_as_asked(finding: Make) -> None:
    rows = panel_rows(finding(), "contains")
    assert banded(rows, "interval") == rows
    # The first row: 0.6 ± 0.05; its interval is 0.4 to 0.8.
    first = banded(rows, "sd")[0]
    assert (first["low"], first["high"]) == (pytest.approx(0.55), pytest.approx(0.65))
    single = banded(panel_rows(finding(sd_runs=None), "contains"), "sd")[0]
    assert single["low"] is single["high"] is None


def test_a_deviation_band_is_drawn_from_the_deviation(finding: Make) -> None:
    drawn = _drawn_rows(score_by_temperature(finding(), "contains", band="sd"))
    assert {round(row["high"] - row["low"], 9) for row in drawn} == {0.1}


def test_a_ceiling_is_marked_once_in_each_panel_and_only_where_there_is_one(finding: Make) -> None:
    marked = draw_svg(score_by_temperature(finding(ceiling=0.4), "contains"), "score")
    assert marked.count("ceiling 0.4") == 2 * 2  # systems × types
    assert "ceiling" not in draw_svg(score_by_temperature(finding(), "contains"), "score")


def test_the_words_of_a_ceiling_stay_inside_its_panel(finding: Make) -> None:
    def words(ceiling: float) -> dict[str, Any]:
        rows = _drawn_rows(score_by_temperature(finding(ceiling=ceiling), "contains"))
        return next(row for row in rows if row["ceiling"] is not None)

    assert words(0.2)["words_right"] == "ceiling 0.2" and words(0.2)["words_left"] is None
    assert words(0.9)["words_left"] == "ceiling 0.9" and words(0.9)["words_right"] is None


def test_a_remark_stands_in_the_title_of_its_panels(finding: Make) -> None:
    svg = draw_svg(score_by_temperature(finding(systems=("gpt",), remark="temperature not applied"), "contains"), "s")
    assert ">temperature not applied<" in svg
    assert ">gpt<" in svg


def _questions(make: Make, values: list[float], **changes: Any) -> OldFinding:
    """One system, one type, one evidence, at two temperatures: a row per question."""
    found = make(systems=("gpt",), unit="score")
    (row,) = [
        row
        for row in found.rows
        if (row["perturbation"], row["type"], row["temperature"], row["contrast"]) == ("typos", "bridge", 0.0, None)
    ]
    return replace(
        found,
        rows=tuple(
            {**row, "question_id": f"q{i}", "temperature": temperature, "value": value, **changes}
            for temperature in (0.0, 0.4, 1.0)
            for i, value in enumerate(values)
        ),
    )


def test_boxes_show_a_cool_temperature_beside_the_hottest(finding: Make) -> None:
    assert {row["at"] for row in box_rows(_questions(finding, [0.1, 0.2]), "contains")} == {
        "temperature 0.4",
        "temperature 1",
    }
    # The study's grid has 0.6; of two equally near the cooler is taken.
    assert cool_and_hot({0.0, 0.6, 2.0}, 0.6) == [0.6, 2.0]
    assert cool_and_hot({0.5, 0.7, 2.0}, 0.6) == [0.5, 2.0]
    assert cool_and_hot({0.6}, 0.6) == [0.6]


def test_every_question_is_a_point_and_outliers_are_ringed(finding: Make) -> None:
    # Quartiles of 1 to 9 are 3 and 7, so whiskers end within -3 and 13; 14 lies beyond, 13 would not.
    values = [1.0, 2, 3, 4, 5, 6, 7, 8, 9]
    inside = draw_svg(score_boxes(_questions(finding, values), "contains"), "boxes")
    # With 14 the quartiles are 3.25 and 7.75, and the upper fence is 14.5; with 20 they are the same.
    fence = draw_svg(score_boxes(_questions(finding, [*values, 14.0]), "contains"), "boxes")
    beyond = draw_svg(score_boxes(_questions(finding, [*values, 20.0]), "contains"), "boxes")
    rings = 'stroke-width="1.4" opacity="0.9"'
    assert [inside.count(rings), fence.count(rings), beyond.count(rings)] == [0, 0, 2]
    assert len(box_rows(_questions(finding, values), "contains")) == 2 * len(values)


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


def test_an_axis_does_not_round_its_temperatures(finding: Make) -> None:
    """0 and 1.5 alone are so far apart that the axis itself would write 0 and 2."""
    found = finding()
    hot = replace(found, rows=tuple({**row, "temperature": 1.5 * float(str(row["temperature"]))} for row in found.rows))
    drop = next(row for row in hot.rows if row["contrast"] and row["type"] is None)
    for svg in (draw_svg(spark(hot, drop), "spark"), draw_svg(score_by_temperature(hot, "contains"), "score")):
        assert ">1.5<" in svg and ">2<" not in svg
