"""A page with a figure of every chart form, in panels and rows, with names that are long."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import altair as alt

from shaketable.report.charts.bars import bars, histogram, shares
from shaketable.report.charts.boxes import boxes
from shaketable.report.charts.density import density
from shaketable.report.charts.forest import ForestStyle, forest, sliding_forest
from shaketable.report.charts.fragility import fragility
from shaketable.report.charts.guides import Guide
from shaketable.report.charts.layout import Axis, Picture, above, beside
from shaketable.report.charts.lines import LineStyle, lines
from shaketable.report.charts.looks import evidence_looks, ordered_looks
from shaketable.report.charts.marks import Mark, Titles
from shaketable.report.charts.scatter import scatter
from shaketable.report.charts.surface import field, surface
from shaketable.report.drawing import draw_figures
from shaketable.report.page import make_scripts
from shaketable.report.section import Figure
from shaketable.report.templates import environment

SYSTEMS = (
    "smollm2 · single_retrieval · bm25(k1=0.9)",
    "a-model-with-a-long-name-2.5-instruct · chain_of_thought · gold",
)
TYPES = ("bridge", "comparison of two entities")
EVIDENCE = ("unchanged", "sentence removal", "sentence replacement", "entity masking", "no evidence")
WORDINGS = ("original", "grammar", "prefix injection", "sentence replacement with counterfactual evidence", "x" * 48)
TEMPERATURES = tuple(round(0.2 * i, 1) for i in range(11))
SHARE = "Share of the questions that are answered as they were before, in the original wording"
PAGE = """{% extends "document.html" %}
{% block body %}<main class="page" id="content">{{ pieces.figures(drawings) }}</main>{% endblock %}"""


def mark(i: int, **places: object) -> Mark:
    value = 0.5 + 0.4 * math.sin(i)
    return Mark(**{"value": value, "low": value - 0.1, "high": value + 0.1, "unit": "share", "n": 24} | places)  # type: ignore[arg-type]


def over_temperatures(systems: Sequence[str] = SYSTEMS, rows: Sequence[str] = TYPES) -> list[Mark]:
    return [
        mark(i + j + k, x=temperature, series=evidence, panel=system, row=row)
        for system in systems
        for row in rows
        for j, evidence in enumerate(EVIDENCE)
        for k, temperature in enumerate(TEMPERATURES)
        for i in (len(system),)
    ]


def named(names: Sequence[str] = WORDINGS, systems: Sequence[str] = SYSTEMS) -> list[Mark]:
    return [mark(i, x=name, panel=system) for system in systems for i, name in enumerate(names)]


def two_axes() -> Picture:
    looks = ordered_looks(["reworded", "twice"])
    pair = [replace(one, series=series) for one in named(systems=("",)) for series in looks]
    style = ForestStyle(width=500)
    axes = (Axis(title=SHARE), Axis(title="Similarity to the original", has_zero=False))
    titles = Titles(x="Asked", series="Number")
    return beside(*(forest(pair, titles, looks=looks, axis=axis, style=style) for axis in axes))


def one_by_one() -> Iterator[tuple[str, Sequence[Mark], Titles, partial[alt.TopLevelMixin]]]:
    titles = Titles(row="Question type", series="Evidence", value=SHARE)
    marks = over_temperatures()
    looks = evidence_looks(EVIDENCE)
    ceiling, baseline = (
        Guide(kind="ceiling", at=1.6, words="ceiling 1.6"),
        Guide(kind="baseline", at=0.2, words="stability baseline 0.2"),
    )
    yield "lines", marks, titles, partial(lines, marks, titles, looks=looks, guides=[ceiling])
    few = over_temperatures(("",), ("",))
    yield "lines_alone", few, titles, partial(lines, few, titles, looks=looks, guides=[baseline])
    steps = [replace(one, x=int(5 * float(one.x or 0))) for one in marks]
    style = LineStyle(x="steps", row_names="top")
    yield "steps", steps, titles, partial(lines, steps, titles, looks=looks, style=style)
    facts = [replace(one, panel=f"fact {one.series} of a question about a river", series="", row="") for one in few]
    yield "fragility", facts, titles, partial(fragility, facts, {facts[0].panel: 1.2})
    asked = named()
    titles = Titles(x="Asked", value=SHARE)
    crowded = [replace(one, series=series) for one in asked for series in ("reworded", "asked again")]
    points, zero = Axis(numbers="points"), ForestStyle(has_zero_line=True, has_numbers=True)
    yield "forest", asked, titles, partial(forest, asked, titles, axis=points, style=zero)
    titles = replace(titles, series="Decision")
    yield "forest_crowded", crowded, titles, partial(forest, crowded, titles)
    slid = [replace(one, temperature=t) for one in named(systems=("",)) for t in (0.0, 0.6, 1.2)]
    titles = Titles(x="Asked", value=SHARE, temperature="Temperature")
    yield "forest_slider", slid, titles, partial(sliding_forest, slid, titles)
    yield "forest_beside", crowded, titles, partial(two_axes)
    titles = Titles(x="Asked", series="Decision", value=SHARE)
    yield "bars", crowded, titles, partial(bars, [replace(one, value=0.4) for one in crowded], titles)
    filling = [replace(one, value=0.2, series=str(one.x)) for one in asked]
    yield "shares", filling, titles, partial(shares, filling, titles, looks=ordered_looks(WORDINGS))
    tens = [replace(one, x=round(float(one.x or 0) / 2, 1), value=0.1) for one in marks]
    titles = Titles(x="Certainty of the first token of an answer", series="Answer", value="Answers", row="System")
    yield "histogram", tens, titles, partial(histogram, tens, titles)
    titles = Titles(series="Evidence", panel="", label="Question", value=SHARE)
    single = [
        mark(i + j, series=evidence, panel=f"temperature {t:g}", label=f"q{j}")
        for t in (0.0, 1.2)
        for i, evidence in enumerate(EVIDENCE)
        for j in range(12)
    ]
    yield "boxes", single, titles, partial(boxes, single, titles, looks=looks)
    grid = [replace(one, y=one.series, series="") for one in marks]
    titles = Titles(row="Question type", y="Evidence", value=SHARE)
    yield "surface", grid, titles, partial(surface, grid, titles)
    fine = [replace(one, y=0.2 * EVIDENCE.index(one.series), row="", unit="score") for one in marks]
    titles = Titles(panel="d", x="Entropy", y="Breaking temperature", value="FRS")
    yield "field", fine, titles, partial(lambda: above(field(fine, titles), field(fine, titles)))
    titles = Titles(panel="Dataset", series="System", x="Score", value="Density of broken facts")
    curve = [replace(one, x=float(one.x or 0) / 2, series=one.panel, panel=one.row, row="") for one in marks]
    spikes = [mark(1, x=1.0, series=name, panel=row, label="30 % unbroken") for name in SYSTEMS for row in TYPES]
    yield "density", [*curve, *spikes], titles, partial(density, [*curve, *spikes], titles)
    cloud = [replace(one, x=abs(math.cos(i)), label=f"q{i}") for i, one in enumerate(curve)]
    yield "scatter", cloud, titles, partial(scatter, cloud, titles, is_ringed=lambda one: (one.value or 0) > 0.8)


def figures() -> list[Figure]:
    return [
        Figure(name=name, title=name, note="n = 24 questions.", marks=tuple(marks), titles=titles, draw=drawn)
        for name, marks, titles, drawn in one_by_one()
    ]


def write_page(file: Path) -> Path:
    page = environment.from_string(PAGE)
    file.write_text(page.render(drawings=draw_figures(figures()), scripts=make_scripts(has_figures=True)), "utf-8")
    return file
