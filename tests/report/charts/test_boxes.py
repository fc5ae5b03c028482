from __future__ import annotations

from drawn import HOSTILE, LONG, draw, layers

from shaketable.report.charts.boxes import boxes
from shaketable.report.charts.looks import evidence_looks
from shaketable.report.charts.marks import Mark, Titles
from shaketable.types import Unit

TITLES = Titles(panel="", temperature="Temperature", series="Evidence", label="Question", value="bertscore by question")
RINGS = 'stroke-width="1.4" opacity="0.9"'


def questions(
    values: list[float], *, series: tuple[str, ...] = ("unchanged", "typos"), unit: Unit = "score"
) -> list[Mark]:
    return [
        Mark(value=v, series=name, panel=f"temperature {t:g}", temperature=t, label=f"q{i}", unit=unit)
        for t in (0.6, 2.0)
        for name in series
        for i, v in enumerate(values)
    ]


def test_every_question_is_a_point_and_outliers_are_ringed() -> None:
    # Quartiles of 1 to 9 are 3 and 7, so whiskers end within -3 and 13.
    values = [1.0, 2, 3, 4, 5, 6, 7, 8, 9]
    inside = draw(boxes(questions(values), TITLES))
    # With 14 the quartiles are 3.25 and 7.75, and the upper fence is 14.5; with 20 they are the same.
    fence = draw(boxes(questions([*values, 14.0]), TITLES))
    beyond = draw(boxes(questions([*values, 20.0]), TITLES))
    assert [drawn.svg.count(RINGS) for drawn in (inside, fence, beyond)] == [0, 0, 2 * 2]
    assert inside.count("symbol") == 2 * 2 * len(values)


def test_panels_series_and_the_axis_are_named_without_a_legend() -> None:
    texts = draw(boxes(questions([0.1, 0.2, 0.4]), TITLES)).texts
    assert {"temperature 0.6", "temperature 2", "bertscore by question"} <= set(texts)
    assert texts.count("typos") == 2  # below its box in each panel


def test_series_stand_in_the_order_of_their_looks() -> None:
    chart = boxes(questions([0.1, 0.2]), TITLES, looks=evidence_looks(["typos", "unchanged", "no evidence"]))
    orders = [layer["encoding"]["x"]["sort"] for layer in layers(chart.to_dict())]
    assert orders == [["unchanged", "typos"]] * 3


def test_questions_without_a_value_are_left_out() -> None:
    missing = [Mark(value=None, series="typos", panel="temperature 2", label="q9")]
    marks = questions([0.1, 0.2, 0.4])
    assert draw(boxes(marks + missing, TITLES)).svg == draw(boxes(marks, TITLES)).svg


def test_shares_are_in_percent_from_zero_to_one() -> None:
    texts = draw(boxes(questions([0.4, 0.5], unit="share"), TITLES)).texts
    assert {"0%", "100%"} <= set(texts)


def test_hostile_and_long_names_do_no_harm() -> None:
    marks = [Mark(value=v, series=name, panel=name, row=name) for name in (HOSTILE, LONG) for v in (0.1, 0.2, 0.4)]
    drawn = draw(boxes(marks, TITLES))
    assert "<script" not in drawn.svg
    assert drawn.width < 1150
