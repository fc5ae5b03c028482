from __future__ import annotations

from typing import Any

import vl_convert
from drawn import HOSTILE, LONG, draw, layers

from shaketable.report.charts.forest import ForestStyle, forest, sliding_forest
from shaketable.report.charts.interactive import interactive
from shaketable.report.charts.layout import Axis, beside
from shaketable.report.charts.looks import ordered_looks
from shaketable.report.charts.marks import Mark, Titles

TITLES = Titles(x="Asked", series="Wording", value="Decision to search flips")
DROPS = Titles(x="Evidence", panel="", temperature="Temperature", value="Drop (points)")


def flips(*, names: tuple[str, ...] = ("original", "people"), panels: tuple[str, ...] = ("nq",)) -> list[Mark]:
    return [
        Mark(x=name, value=0.3, low=0.2, high=0.4, unit="share", series=series, panel=panel)
        for panel in panels
        for name in names
        for series in ("reworded", "the same wording again")
    ]


def drops(temperatures: tuple[float, ...] = (0.0, 0.5, 1.0)) -> list[Mark]:
    return [
        Mark(x=x, value=v, low=v - 0.1, high=v + 0.1, unit="share", series=x, panel=f"temperature {t:g}", temperature=t)
        for t in temperatures
        for x, v in (("sentence removal", 0.3), ("typos", 0.1))
    ]


def test_there_is_a_point_and_an_interval_for_each_mark() -> None:
    drawn = draw(forest(flips(panels=("nq", "hotpotqa")), TITLES))
    assert drawn.count("symbol") == drawn.count("rule") == 2 * 2 * 2


def test_names_series_panels_and_the_axis_are_named() -> None:
    texts = set(draw(forest(flips(), TITLES)).texts)
    assert {"original", "people", "Wording", "reworded", "nq", "Decision to search flips", "40%"} <= texts


def test_every_panel_of_every_row_has_something_so_that_all_stay_in_their_place() -> None:
    marks = [
        Mark(x="people", value=0.3, unit="share", panel=panel, row=row)
        for panel, row in (("nq", "first"), ("nq", "second"), ("hotpotqa", "second"))
    ]
    picture = forest(marks, TITLES)
    (data,) = picture.to_dict()["datasets"].values()
    cells = {(value["panel"], value["row"]) for value in data}
    assert cells == {(panel, row) for panel in ("nq", "hotpotqa") for row in ("first", "second")}
    assert draw(picture).count("symbol") == len(marks), "Nothing is drawn where there is nothing."


def test_names_stand_in_the_order_of_the_marks() -> None:
    texts = draw(forest(flips(names=("people", "original", "formality")), TITLES)).texts
    assert [text for text in texts if text in ("people", "original", "formality")] == [
        "people",
        "original",
        "formality",
    ]


def test_marks_without_a_value_are_left_out() -> None:
    missing = [Mark(x="spelling", value=None, unit="share", series="reworded", panel="nq")]
    assert draw(forest(flips() + missing, TITLES)).svg == draw(forest(flips(), TITLES)).svg


def test_a_mark_without_an_interval_is_a_point_alone() -> None:
    drawn = draw(forest([*flips(), Mark(x="spelling", value=0.5, unit="share", series="reworded", panel="nq")], TITLES))
    assert drawn.count("symbol") == 5
    assert drawn.count("rule") == 4


def test_systems_stand_above_one_another() -> None:
    marks = [Mark(x="people", value=0.5, series="searches", row=row) for row in ("smollm2", "gpt")]
    assert {"smollm2", "gpt"} <= set(draw(forest(marks, TITLES)).texts)


def test_drops_are_in_points_around_one_line_at_zero_in_each_panel() -> None:
    style = ForestStyle(has_zero_line=True)
    drawn = draw(forest(drops(), DROPS, axis=Axis(numbers="points"), style=style))
    assert drawn.count("rule") == 6 + 3
    assert "40" in drawn.texts and "40%" not in drawn.texts


def test_values_are_written_beside_their_marks_where_asked() -> None:
    marks = [Mark(x="wording", value=0.256, unit="share"), Mark(x="evidence", value=-0.124, unit="share")]
    texts = draw(forest(marks, Titles(), style=ForestStyle(has_numbers=True))).texts
    assert "26 %" in texts and "−12 %" in texts


def test_forests_of_different_measures_stand_side_by_side_under_one_legend() -> None:
    half, looks = ForestStyle(width=500), ordered_looks(["gpt", "phi"])
    losses = [Mark(x="people", value=2, series="gpt"), Mark(x="spelling", value=3, series="phi")]
    words = [Mark(x="spelling", value=9, series="phi")]
    chart = beside(
        forest(losses, Titles(series="Model", value="Loss"), looks=looks, style=half),
        forest(words, Titles(series="Model", value="Length"), looks=looks, style=half),
    )
    drawn = draw(chart)
    assert {"Loss", "Length"} <= set(drawn.texts)
    assert drawn.texts.count("phi") == 1
    assert drawn.svg.count(f'fill="{looks["phi"].color}"') == 1 + 2  # in the legend, and on either side
    assert 850 < drawn.width < 1100


def test_the_page_shows_one_temperature_the_coolest_first() -> None:
    spec: Any = interactive(sliding_forest(drops(), DROPS, axis=Axis(numbers="points")), DROPS.columns())
    (param,) = [param for param in spec["params"] if "bind" in param and "value" in param]
    assert param["value"] == 0
    assert param["bind"] == {"input": "range", "name": "Temperature", "min": 0, "max": 1, "step": 0.5}
    (rows,) = spec["datasets"].values()
    assert {row["temperature"] for row in rows} == {0, 0.5, 1}
    assert vl_convert.vegalite_to_svg(spec).count(">sentence removal<") == 1


def test_uneven_temperatures_are_chosen_from_a_list() -> None:
    (param,) = [p for p in sliding_forest(drops((0.0, 0.2, 1.0)), DROPS).to_dict()["params"] if "bind" in p]
    assert param["bind"] == {"input": "select", "name": "Temperature", "options": [0, 0.2, 1]}


def test_the_scale_stays_when_the_temperature_moves() -> None:
    encodings = [layer["encoding"]["x"] for layer in layers(sliding_forest(drops(), DROPS).to_dict())]
    assert [x["scale"]["domain"] for x in encodings] == [[0, 0.4]] * 2


def test_pictures_are_about_a_thousand_pixels_wide_however_many_panels() -> None:
    for panels in (("a",), ("a", "b"), ("a", "b", "c", "d")):
        assert 850 < draw(forest(flips(panels=panels), TITLES)).width < 1100


def test_hostile_and_long_names_do_no_harm() -> None:
    marks = [Mark(x=name, value=0.5, series=name, panel=name, row=name) for name in (HOSTILE, LONG)]
    drawn = draw(forest(marks, TITLES))
    assert "<script" not in drawn.svg
    assert HOSTILE in " ".join(drawn.texts)
    assert drawn.width < 1150
