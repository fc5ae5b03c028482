from __future__ import annotations

import re

from drawn import HOSTILE, LONG, draw

from shaketable.report.charts.layout import Axis, above
from shaketable.report.charts.marks import Mark, Titles
from shaketable.report.charts.surface import field, surface

TITLES = Titles(row="Asked", y="Evidence", value="Correct answers")
FORMULA = Titles(panel="d", x="Entropy", y="Breaking temperature", value="FRS")


def settings() -> list[Mark]:
    return [
        Mark(x=x, y=y, value=value, unit="share", panel=panel, row=row)
        for panel in ("smollm2", "gpt")
        for row in ("original", "spelling")
        for y in ("unchanged", "typos")
        for x, value in ((0.0, 0.9), (1.5, 0.25))
    ]


def cells() -> list[Mark]:
    return [
        Mark(x=0.05 + i / 10, y=0.1 + j / 5, value=i * j / 81, panel=f"d = {d}")
        for d in (1, 5)
        for i in range(10)
        for j in range(10)
    ]


def test_there_is_a_box_with_its_number_for_each_mark() -> None:
    drawn = draw(surface(settings(), TITLES))
    assert drawn.count("rect") == drawn.count("text") == 2 * 2 * 2 * 2
    assert drawn.texts.count("90%") == drawn.texts.count("25%") == 8


def test_panels_rows_axes_and_colors_are_named() -> None:
    texts = set(draw(surface(settings(), TITLES)).texts)
    assert {"smollm2", "original", "spelling", "unchanged", "typos", "1.5", "Temperature", "Correct answers"} <= texts


def test_numbers_can_be_read_on_dark_and_on_light_boxes() -> None:
    svg = draw(surface(settings(), TITLES)).svg
    assert len(re.findall(r'fill="black"[^>]*>90%', svg)) == len(re.findall(r'fill="white"[^>]*>25%', svg)) == 8


def test_settings_without_a_value_are_left_out() -> None:
    missing = [Mark(x=0.7, y="typos", value=None, unit="share", panel="gpt", row="original")]
    assert draw(surface(settings() + missing, TITLES)).texts == draw(surface(settings(), TITLES)).texts


def test_a_field_fills_the_plane_between_round_numbers() -> None:
    drawn = draw(field(cells(), FORMULA))
    assert drawn.count("rect") == 200
    assert {"0", "0.5", "1", "2", "d = 5", "Entropy", "Breaking temperature", "FRS"} <= set(drawn.texts)


def test_fields_one_above_the_other_have_their_own_colors() -> None:
    low, high = Axis(domain=(0, 0.8)), Axis(domain=(-1, 3))
    texts = draw(above(field(cells(), FORMULA, axis=low), field(cells(), FORMULA, axis=high))).texts
    assert {"0.8", "−1", "3"} <= set(texts)


def test_ids_start_with_the_name_of_the_figure() -> None:
    svg = draw(surface(settings(), TITLES), "surface").svg
    ids = re.findall(r'\bid="([^"]+)"', svg)
    assert ids and all(one.startswith("surface-") for one in ids)
    used = re.findall(r"url\(#([^)]+)\)", svg)
    assert used and set(used) <= set(ids)


def test_hostile_and_long_names_do_no_harm() -> None:
    marks = [Mark(x=x, y=name, value=0.5, panel=name, row=name) for name in (HOSTILE, LONG) for x in (0.0, 1.0)]
    drawn = draw(surface(marks, TITLES))
    assert "<script" not in drawn.svg
    assert drawn.width < 1200
