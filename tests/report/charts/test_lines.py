from __future__ import annotations

import re
from typing import Any

from drawn import HOSTILE, LONG, draw, layers

from shaketable.report.charts.drawing import draw_png
from shaketable.report.charts.guides import Guide
from shaketable.report.charts.layout import Axis
from shaketable.report.charts.lines import LineStyle, lines
from shaketable.report.charts.looks import INK, evidence_looks
from shaketable.report.charts.marks import Mark, Titles

TITLES = Titles(row="Question type", series="Evidence", value="Correct answers")


def made(*, panels: tuple[str, ...] = ("smollm2", "gpt"), **changes: Any) -> list[Mark]:
    """Panels × two rows × three series × two temperatures."""
    return [
        Mark(
            **{
                "x": x,
                "value": 0.6 - 0.1 * i - 0.2 * x,
                "low": 0.5 - 0.1 * i - 0.2 * x,
                "high": 0.7 - 0.1 * i - 0.2 * x,
                "unit": "share",
                "series": series,
                "panel": panel,
                "row": row,
            }
            | changes
        )
        for panel in panels
        for row in ("comparison", "bridge")
        for i, series in enumerate(("unchanged", "sentence removal", "typos"))
        for x in (0.0, 1.5)
    ]


def test_there_is_a_point_for_each_mark_and_a_line_and_band_for_each_series_in_each_panel() -> None:
    drawn = draw(lines(made(), TITLES))
    assert drawn.count("symbol") == 2 * 2 * 3 * 2
    assert drawn.count("line") == drawn.count("area") == 2 * 2 * 3


def test_axes_panels_rows_and_series_are_named() -> None:
    texts = draw(lines(made(), TITLES)).texts
    named = {"smollm2", "gpt", "comparison", "bridge", "Evidence", "typos", "Temperature", "Correct answers"}
    assert named <= set(texts)


def test_panels_and_rows_stand_in_the_order_of_the_marks() -> None:
    facet = lines(made(), TITLES).to_dict()["facet"]
    assert facet["column"]["sort"] == ["smollm2", "gpt"]
    assert facet["row"]["sort"] == ["comparison", "bridge"]


def test_marks_without_a_value_are_left_out() -> None:
    missing = [Mark(x=1.0, value=None, unit="share", series="typos", panel="gpt", row="bridge")]
    assert draw(lines(made() + missing, TITLES)).svg == draw(lines(made(), TITLES)).svg


def test_a_mark_without_an_interval_has_no_band() -> None:
    assert draw(lines(made(low=None, high=None), TITLES)).count("area") == 0


def test_shares_run_from_zero_to_one_and_scores_do_not_have_to() -> None:
    def scale(marks: list[Mark], axis: Axis | None = None) -> dict[str, Any]:
        drawn = layers(lines(marks, TITLES, axis=axis).to_dict())
        return next(layer["encoding"]["y"]["scale"] for layer in drawn if "scale" in layer["encoding"]["y"])

    assert scale(made())["domain"] == [0, 1]
    assert scale(made(unit="score")) == {"zero": False}
    assert scale(made(unit="score"), Axis()) == {"zero": True}
    assert scale(made(), Axis(numbers="points")) == {"zero": True}  # differences may be below 0


def test_an_axis_does_not_round_its_temperatures() -> None:
    """0 and 1.5 alone are so far apart that the axis itself would write 0 and 2."""
    texts = draw(lines(made(), TITLES)).texts
    assert "1.5" in texts and "2" not in texts


def test_a_series_without_a_title_has_no_legend() -> None:
    assert "typos" not in draw(lines(made(), Titles(value="Correct answers"))).texts


def test_the_looks_of_evidence_are_drawn() -> None:
    marks = made()
    svg = draw(lines(marks, TITLES, looks=evidence_looks(mark.series for mark in marks))).svg
    assert 'stroke="#D55E00"' in svg and f'stroke="{INK}"' in svg


def test_a_ceiling_is_marked_once_in_each_panel_that_has_one() -> None:
    ceiling = Guide(kind="ceiling", at=0.4, words="ceiling 0.4", panel="gpt")
    drawn = draw(lines(made(), TITLES, guides=[ceiling]))
    assert drawn.texts.count("ceiling 0.4") == 2  # rows
    assert drawn.svg.count('opacity="0.07"') == 2


def test_the_words_of_a_ceiling_stay_inside_its_panel() -> None:
    def anchor(at: float) -> set[str]:
        svg = draw(lines(made(), TITLES, guides=[Guide(kind="ceiling", at=at, words="ceiling")])).svg
        return set(re.findall(r'text-anchor="(\w+)"[^>]*>ceiling<', svg))

    assert anchor(0.2) == {"start"}
    assert anchor(1.4) == {"end"}


def test_a_baseline_may_differ_from_row_to_row() -> None:
    guides = [
        Guide(kind="baseline", at=at, words=f"stability baseline {at}", panel="gpt", row=row)
        for at, row in ((0.1, "bridge"), (0.2, "comparison"))
    ]
    texts = draw(lines(made(), TITLES, guides=guides)).texts
    assert texts.count("stability baseline 0.1") == texts.count("stability baseline 0.2") == 1


def test_certified_bounds_lie_around_the_interval() -> None:
    bounded = draw(lines(made(at_least=0.1, at_most=0.9), TITLES))
    assert bounded.count("area") == 2 * draw(lines(made(), TITLES)).count("area")


def test_curves_stand_three_in_a_line_and_each_is_marked_where_it_breaks() -> None:
    marks = [Mark(x=x, value=1 - x / 2, unit="share", panel=f"fact {i}") for i in range(4) for x in (0.0, 1.0, 2.0)]
    breaks = [Guide(kind="break", at=1.0, panel=f"fact {i}") for i in range(4)]
    style = LineStyle(x="span", has_points=False, wrap=3, height=150)
    chart = lines(marks, Titles(panel="Fact"), guides=[*breaks, Guide(kind="half", at=0.5)], style=style)
    assert chart.to_dict()["columns"] == 3
    drawn = draw(chart)
    assert drawn.count("rule") == 4 + 4
    assert drawn.count("symbol") == 0
    assert "fact 3" in drawn.texts


def test_searches_are_whole_numbers() -> None:
    marks = [Mark(x=hop, value=0.5, unit="share", series="people", panel="hotpotqa") for hop in (1, 2, 3)]
    texts = draw(lines(marks, Titles(x="Search", series="Asked"), style=LineStyle(x="steps"))).texts
    assert {"1", "2", "3", "Search"} <= set(texts)


def test_pictures_are_about_a_thousand_pixels_wide_however_many_panels() -> None:
    for panels in (("a",), ("a", "b"), ("a", "b", "c", "d")):
        assert 850 < draw(lines(made(panels=panels), TITLES)).width < 1100


def test_hostile_and_long_names_do_no_harm() -> None:
    marks = made(panels=(HOSTILE, LONG), series=HOSTILE, row=LONG)
    drawn = draw(lines(marks, TITLES, guides=[Guide(kind="ceiling", at=0.4, words=HOSTILE, panel=HOSTILE)]))
    assert "<script" not in drawn.svg
    assert HOSTILE in drawn.texts
    assert drawn.width < 1150


def test_pictures_take_the_color_of_the_page_and_files_are_white() -> None:
    svg = draw(lines(made(), TITLES)).svg
    assert f'fill="{INK}"' in svg
    assert 'fill="#fff' not in svg and 'fill="white"' not in svg
    assert draw_png(lines(made(), TITLES)).startswith(b"\x89PNG")
