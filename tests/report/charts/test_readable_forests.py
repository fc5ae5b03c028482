"""Forests with names as long as those of the published studies."""

from __future__ import annotations

import json
from typing import Any

import pytest
import vl_convert
from drawn import draw

from shaketable.report.charts.forest import ForestStyle, forest
from shaketable.report.charts.layout import LEAST_PANEL, MOST_LINES, break_names
from shaketable.report.charts.marks import Mark, Titles
from shaketable.report.sections.query_difficulty import DRAWN, FIGURE
from shaketable.report.wording_words import name_way, order_of_way
from shaketable.study.loading import load_study

TITLES = Titles(x="Asked", series="Model", value="Loss")
LONG = [
    f"{kind} (by: openai(model: gpt-5-mini, max_tokens_field: max_completion_tokens, send_temperature: off), "
    f"max_tokens: {tokens})"
    for kind in ("formality", "readability")
    for tokens in (4000, 8000)
]


def published_ways() -> list[str]:
    return [name_way(way) for way in sorted(load_study("published/query_variation").variations, key=order_of_way)]


def drawn_views(picture: Any) -> tuple[list[dict[str, Any]], list[str]]:
    """Each view of a picture with its width and its ranges of x, and every text, read from the compiled scene."""
    vega = vl_convert.vegalite_to_vega(picture.to_dict())
    return vega, draw(picture).texts


def widths_and_ranges(vega: dict[str, Any]) -> list[float]:
    """The widths of all plots, as the compiled specification has them; ranges of x run from 0 to the width."""
    signals = {signal["name"]: signal.get("value") for signal in vega.get("signals", [])}
    widths = [value for name, value in signals.items() if "idth" in name and isinstance(value, int | float)]
    if isinstance(vega.get("width"), int | float):
        widths.append(vega["width"])
    return widths


def query_panels(ways: list[str], systems: tuple[str, ...] = ("llama",)) -> Any:
    marks = [
        Mark(x=way, value=3 + i / 10, low=2.5, high=3.5 + i / 10, series=system, panel=number)
        for number in DRAWN.values()
        for i, way in enumerate(ways)
        for system in systems
        if (number, system) != ("Loss, nats a token", "no-loss")
    ]
    return FIGURE.draw(marks, FIGURE.titles)


@pytest.mark.parametrize("ways", [published_ways(), LONG])
def test_plots_keep_a_readable_width(ways: list[str]) -> None:
    vega, _ = drawn_views(query_panels(ways))
    widths = widths_and_ranges(vega)
    assert widths and min(widths) >= LEAST_PANEL


@pytest.mark.parametrize("width", [1000, 500, 333, 200])
def test_a_narrow_forest_never_runs_backwards(width: int) -> None:
    marks = [Mark(x=way, value=i / 10, low=0, high=1, unit="share") for i, way in enumerate(LONG)]
    picture = forest(marks, TITLES, style=ForestStyle(width=width))
    vega, texts = drawn_views(picture)
    assert min(widths_and_ranges(vega)) >= LEAST_PANEL
    ticks = [text for text in texts if text.endswith("%")]
    assert ticks == sorted(ticks, key=lambda text: int(text[:-1]))


def test_long_names_are_broken_and_stay_unlike() -> None:
    names = break_names(LONG, whole=333)
    assert len({tuple(lines) for lines in names.lines.values()}) == len(LONG)
    assert all(len(lines) <= MOST_LINES + 1 for lines in names.lines.values())


def test_names_that_differ_in_their_middle_are_numbered() -> None:
    names = break_names(["a" * 300 + str(i) + "b" * 300 for i in range(2)])
    assert [lines[-1] for lines in names.lines.values()][1] == "(2)"


def test_a_panel_without_a_model_keeps_its_lines() -> None:
    """A model whose losses are not known leaves gaps; the lines stay at the heights of their names."""
    vega, texts = drawn_views(query_panels(["original", "people"], systems=("llama", "no-loss")))
    assert texts.count("original") == texts.count("people") == 1
    steps = {json.dumps(signal.get("update", "")) for signal in vega["signals"] if "y_step" in signal["name"]}
    heights = [scale["domain"] for scale in _scales(vega) if scale["name"].endswith("yOffset")]
    assert heights and all(domain == ["llama", "no-loss"] for domain in heights), steps


def _scales(vega: Any) -> list[dict[str, Any]]:
    inner = [scale for mark in vega.get("marks", []) for scale in _scales(mark)]
    return [*vega.get("scales", []), *inner]
