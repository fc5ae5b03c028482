from __future__ import annotations

import re

from drawn import HOSTILE, LONG, draw

from shaketable.report.charts.bars import BarStyle, bars, histogram, shares
from shaketable.report.charts.looks import Look
from shaketable.report.charts.marks import Mark, Titles

TITLES = Titles(x="Asked", series="Searching was", value="Answers")
LOOKS = {name: Look(color, (1, 0), "square") for name, color in (("helpful", "#009E73"), ("harmful", "#D55E00"))}


def outcomes(low: float | None = None) -> list[Mark]:
    return [
        Mark(x=x, value=value, low=low, high=low, unit="share", series=series, panel="hotpotqa", row=row)
        for row in ("smollm2", "gpt")
        for x in ("original", "people")
        for series, value in (("harmful", 0.25), ("helpful", 0.75))
    ]


def test_bars_are_stacked_in_the_order_of_their_looks() -> None:
    drawn = draw(bars(outcomes(), TITLES, looks=LOOKS))
    assert drawn.count("rect") == 2 * 2 * 2
    places = re.findall(r'd="M([\d.]+),[^"]*h([\d.]+)[^"]*" fill="(#009E73|#D55E00)"', drawn.svg)
    helpful = {(x, width) for x, width, color in places if color == "#009E73"}
    harmful = {(x, width) for x, width, color in places if color == "#D55E00"}
    assert {x for x, _ in helpful} == {"0"}
    assert {x for x, _ in harmful} == {width for _, width in helpful}  # one begins where the other ends


def test_names_series_rows_and_the_axis_are_named() -> None:
    texts = set(draw(bars(outcomes(), TITLES)).texts)
    assert {"original", "people", "Searching was", "helpful", "hotpotqa", "gpt", "Answers", "0%", "100%"} <= texts


def test_plain_bars_have_intervals_and_stacked_ones_have_none() -> None:
    plain = [Mark(x=x, value=0.4, low=0.2, high=0.6, unit="share", series=x, row="gpt") for x in ("number", "place")]
    assert draw(bars(plain, Titles(value="Share"))).count("rule") == 2
    assert draw(bars(outcomes(low=0.1), TITLES)).count("rule") == 0


def test_a_line_is_drawn_once_in_each_panel() -> None:
    assert draw(bars(outcomes(), TITLES, style=BarStyle(line_at=0.5))).count("rule") == 2


def test_bars_without_a_value_are_left_out() -> None:
    missing = [Mark(x="people", value=None, unit="share", series="helpful", panel="hotpotqa", row="gpt")]
    assert draw(bars(outcomes() + missing, TITLES)).svg == draw(bars(outcomes(), TITLES)).svg


def components(panel: str = "hotpotqa") -> list[Mark]:
    values = {"wording": 0.25, "method": -0.05, "question": 0.75}
    return [
        Mark(x=x, series=x, value=v, low=v - 0.1, high=v + 0.1, unit="share", panel=panel) for x, v in values.items()
    ]


def test_shares_fill_one_bar_save_those_below_zero() -> None:
    drawn = draw(shares(components(), Titles(value="Share of the variation")))
    assert drawn.count("rect") == 2
    assert drawn.count("symbol") == 3
    assert {"25 %", "−5 %", "75 %", "wording", "method", "question", "Share of the variation"} <= set(drawn.texts)


def test_each_dataset_has_a_bar_of_its_own() -> None:
    drawn = draw(shares(components() + components("nq"), Titles(value="Share of the variation")))
    assert drawn.count("rect") == 2 * 2
    assert {"hotpotqa", "nq"} <= set(drawn.texts)
    assert 850 < drawn.width < 1100


def test_bins_of_a_histogram_stand_side_by_side_and_series_on_top_of_one_another() -> None:
    marks = [
        Mark(x=x, value=0.25, unit="share", series=series, panel=panel, row="smollm2")
        for panel in ("temperature 0", "temperature 1")
        for x in (0.8, 0.9)
        for series in ("correct", "wrong")
    ]
    drawn = draw(histogram(marks, Titles(x="Certainty", series="Answer", value="Answers", row="System")))
    assert drawn.count("rect") == 2 * 2 * 2
    assert {"temperature 1", "smollm2", "correct", "wrong", "Certainty", "Answers", "0.5", "1"} <= set(drawn.texts)
    assert "50%" in drawn.texts and "60%" not in drawn.texts  # two quarters


def test_hostile_and_long_names_do_no_harm() -> None:
    marks = [Mark(x=name, value=0.5, unit="share", series=name, panel=name, row=name) for name in (HOSTILE, LONG)]
    for chart in (bars(marks, TITLES), shares(marks, TITLES)):
        drawn = draw(chart)
        assert "<script" not in drawn.svg
        assert drawn.width < 1200
