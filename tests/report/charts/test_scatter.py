from __future__ import annotations

from drawn import HOSTILE, LONG, draw

from shaketable.report.charts.marks import Mark, Titles
from shaketable.report.charts.scatter import scatter

TITLES = Titles(series="System", x="Entropy", temperature="Breaking temperature", value="Score", label="Question")


def facts(systems: tuple[str, ...] = ("smollm2", "gpt")) -> list[Mark]:
    return [
        Mark(x=i / 10, value=1 - i / 20, temperature=None if i == 0 else 1.0, series=system, label=f"q{i}")
        for system in systems
        for i in range(8)
    ]


def is_unbroken(mark: Mark) -> bool:
    return mark.temperature is None


def test_each_mark_is_a_point_and_what_never_breaks_is_ringed() -> None:
    assert draw(scatter(facts(), TITLES)).count("symbol") == 16
    assert draw(scatter(facts(), TITLES, is_ringed=is_unbroken)).count("symbol") == 16 + 2


def test_each_series_has_a_density_at_both_margins() -> None:
    assert draw(scatter(facts(), TITLES, is_ringed=is_unbroken)).count("line") == 4


def test_what_is_ringed_has_no_part_in_the_density_of_values() -> None:
    ringed = [Mark(x=0.5, value=1.0, series="gpt", label=f"r{i}") for i in range(20)]
    plain = draw(scatter(facts(), TITLES, is_ringed=is_unbroken)).svg.split('<g class="mark-line')
    more = draw(scatter(facts() + ringed, TITLES, is_ringed=is_unbroken)).svg.split('<g class="mark-line')
    assert plain[-1] == more[-1]  # the margin on the right
    assert plain[1] != more[1]  # the margin above


def test_series_and_axes_are_named() -> None:
    assert {"smollm2", "gpt", "System", "Entropy", "Score"} <= set(draw(scatter(facts(), TITLES)).texts)


def test_marks_without_a_value_are_left_out() -> None:
    missing = [Mark(x=0.5, value=None, series="gpt")]
    assert draw(scatter(facts() + missing, TITLES)).svg == draw(scatter(facts(), TITLES)).svg


def test_hostile_and_long_names_do_no_harm() -> None:
    drawn = draw(scatter(facts((HOSTILE, LONG)), TITLES))
    assert "<script" not in drawn.svg
    assert drawn.width < 1150
