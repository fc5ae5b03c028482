from __future__ import annotations

from drawn import draw

from shaketable.factors import Cell
from shaketable.report.charts.marks import Point
from shaketable.report.charts.spark import spark
from shaketable.types import Unit


def points(unit: Unit = "share", *, is_difference: bool = False) -> list[Point]:
    return [
        Point(temperature=t, value=0.5 - 0.2 * t, low=0.2, high=0.6, unit=unit, is_difference=is_difference)
        for t in (0.0, 1.0, 1.5)
    ]


def test_a_line_runs_through_all_points_in_the_color_of_its_evidence() -> None:
    drawn = draw(spark(points(), Cell(perturbation="sentence_removal")))
    assert drawn.count("line") == 1 and drawn.count("symbol") == 3
    assert 'stroke="#D55E00"' in drawn.svg


def test_shares_are_in_percent_their_differences_in_points_and_scores_plain() -> None:
    assert "100%" in draw(spark(points(), Cell())).texts
    assert "60" in draw(spark(points(is_difference=True), Cell())).texts
    assert "0.6" in draw(spark(points("score"), Cell())).texts


def test_the_axis_does_not_round_its_temperatures() -> None:
    """0 and 1.5 are so far apart that the axis itself would write 0 and 2."""
    texts = draw(spark(points(), Cell())).texts
    assert "1.5" in texts and "2" not in texts
