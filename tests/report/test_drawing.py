from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from shaketable.report.charts.forest import forest, sliding_forest
from shaketable.report.charts.marks import Mark, Titles
from shaketable.report.drawing import draw_figures, write_drawings
from shaketable.report.evidence_marks import shorten_name
from shaketable.report.section import Figure

MARKS = tuple(
    Mark(x="typos", value=0.25, low=0.1, high=None, unit="share", temperature=t, panel=f"temperature {t:g}", n=8)
    for t in (0.0, 1.0)
)
TITLES = Titles(panel="", temperature="Temperature", x="Evidence", value="Drop")
FIGURE = Figure(
    name="drops",
    title="Drops",
    caption="",
    note="n = 8",
    marks=MARKS,
    titles=TITLES,
    draw=partial(forest, MARKS, TITLES),
    draw_live=partial(sliding_forest, MARKS, TITLES),
)


def test_a_figure_is_drawn_still_and_live_with_its_table_and_its_numbers() -> None:
    (drawing,) = draw_figures([FIGURE])
    assert drawing.svg.startswith("<svg")
    assert "params" in drawing.spec and "facet" not in drawing.spec  # the slider in place of panels
    assert drawing.table.columns == ("Temperature", "Evidence", "Drop", "Low", "High", "Questions")
    assert drawing.csv.splitlines() == [
        "Temperature,Evidence,Drop,Low,High,Questions",
        "0.0,typos,0.25,0.1,,8",
        "1.0,typos,0.25,0.1,,8",
    ]


def test_where_nothing_could_be_estimated_there_is_no_picture() -> None:
    marks = tuple(replace(mark, value=None) for mark in MARKS)
    assert draw_figures([replace(FIGURE, marks=marks), replace(FIGURE, marks=())]) == []


def test_drawings_are_written_as_three_files_each(tmp_path: Path) -> None:
    write_drawings(draw_figures([FIGURE]), tmp_path / "figures")
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {"drops.svg", "drops.png", "drops.csv"}


def test_a_figure_of_parts_with_long_names_gets_a_name_that_a_disk_takes(tmp_path):
    long, other = (f"score_boxes_{'x' * 300}_{end}" for end in ("bridge", "comparison"))
    assert shorten_name("score_boxes_bridge") == "score_boxes_bridge"
    assert shorten_name(long) != shorten_name(other)
    (tmp_path / f"{shorten_name(long)}.svg").write_text("")
