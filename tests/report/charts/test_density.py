from __future__ import annotations

from drawn import HOSTILE, LONG, draw

from shaketable.report.charts.density import density
from shaketable.report.charts.marks import Mark, Titles

TITLES = Titles(panel="Dataset", series="System", x="Score", value="Density of broken facts")


def curves(panels: tuple[str, ...] = ("squad", "triviaqa"), series: tuple[str, ...] = ("smollm2", "gpt")) -> list[Mark]:
    curve = [
        Mark(x=x / 10, value=x / 5, series=name, panel=panel) for panel in panels for name in series for x in range(10)
    ]
    spikes = [
        Mark(x=1.0 + 0.006 * i, value=3.0, series=name, panel=panel, label="30 % unbroken")
        for panel in panels
        for i, name in enumerate(series)
    ]
    return curve + spikes


def test_there_is_an_area_and_a_spike_with_its_words_for_each_series_in_each_panel() -> None:
    drawn = draw(density(curves(), TITLES))
    assert drawn.count("area") == drawn.count("rule") == 4
    assert drawn.texts.count("30 % unbroken") == 4


def test_panels_series_and_axes_are_named() -> None:
    texts = set(draw(density(curves(), TITLES)).texts)
    assert {"squad", "triviaqa", "smollm2", "gpt", "Score", "Density of broken facts"} <= texts


def test_a_series_may_have_a_spike_alone() -> None:
    spike = Mark(x=1.0, value=10.0, series="phi", panel="squad", label="100 % unbroken")
    drawn = draw(density([*curves(), spike], TITLES))
    assert drawn.count("area") == 4 and drawn.count("rule") == 5


def test_marks_without_a_value_are_left_out() -> None:
    missing = [Mark(x=0.55, value=None, series="gpt", panel="squad")]
    assert draw(density(curves() + missing, TITLES)).svg == draw(density(curves(), TITLES)).svg


def test_hostile_and_long_names_do_no_harm() -> None:
    drawn = draw(density(curves((HOSTILE, LONG), (HOSTILE, LONG)), TITLES))
    assert "<script" not in drawn.svg
    assert drawn.width < 1150
