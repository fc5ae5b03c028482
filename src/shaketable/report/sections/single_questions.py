"""How single questions fare: boxes by evidence, a cool temperature beside the hottest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from shaketable.analyses.conditions import by_question, cells_of
from shaketable.analyses.evidence.correctness import Correctness
from shaketable.analyses.floors import N_LEAST
from shaketable.factors import UNCHANGED, Cell, word_for
from shaketable.report.charts.boxes import boxes
from shaketable.report.charts.layout import Axis
from shaketable.report.charts.looks import evidence_looks
from shaketable.report.charts.marks import Mark, Titles
from shaketable.report.evidence_marks import name_panel, name_type, order_type, shorten_name
from shaketable.report.extremes import extreme_systems, system_cell
from shaketable.report.section import Figure, Page, Table
from shaketable.report.words import (
    count_questions,
    format_entry,
    format_number,
    join_words,
    name_evidence,
    sentence_case,
    too_few,
)
from shaketable.types import Unit

N_DRAWN = 201
"""Points of a box at most: with more a page grows without showing more. Odd, so that quartiles are among them."""
COOL = 0.6
"""The left panel is the temperature nearest to it."""
TITLES = Titles(panel="", series="Evidence", temperature="Temperature", x="", label="Question", low="", high="", n="")
NUMBERS = ("Lowest", "Lower quartile", "Median", "Upper quartile", "Highest")


@dataclass(frozen=True, kw_only=True, slots=True)
class Box:
    """What a box shows, as numbers."""

    perturbation: str | None
    temperature: float
    n: int
    quartiles: tuple[float, ...]
    """Lowest, lower quartile, median, upper quartile, highest."""

    @property
    def median(self) -> float:
        return self.quartiles[2]


@dataclass(frozen=True, kw_only=True, slots=True)
class Answered:
    """One question in one condition."""

    cell: Cell
    question_id: str
    mean: float


def make_boxes(result: Correctness, page: Page) -> Iterator[Figure]:
    """One for each system and type of question; on the page those that temperature moves most and least."""
    units: list[Unit] = [level.mean.unit for level in result.levels if level.metric == result.metric]
    shown = extreme_systems(page)
    groups: dict[Cell, list[Answered]] = {}
    for answered in _answered(result.metric, page):
        groups.setdefault(replace(system_cell(answered.cell), group=answered.cell.group), []).append(answered)

    def order(cell: Cell) -> tuple[str, tuple[bool, str]]:
        return page.name(cell), order_type(str(cell.group))

    for cell in sorted(groups, key=order):
        figure = _figure(cell, groups[cell], result.metric or "", units[0], page)
        is_first = not shown or system_cell(cell) == shown[0]
        yield replace(figure, is_main=is_first, is_on_page=not shown or system_cell(cell) in shown)


def _answered(metric: str | None, page: Page) -> list[Answered]:
    if metric is None:
        return []
    questions = by_question(page.of_metric(metric)).drop_nulls("mean")
    columns = questions.select("question_id", "mean").iter_rows()
    return [
        Answered(cell=cell, question_id=question_id, mean=mean)
        for cell, (question_id, mean) in zip(cells_of(questions), columns, strict=True)
    ]


def _figure(cell: Cell, every: Sequence[Answered], metric: str, unit: Unit, page: Page) -> Figure:
    temperatures = cool_and_hot({answered.cell.temperature or 0.0 for answered in every}, COOL)
    answers = [answered for answered in every if answered.cell.temperature in temperatures]
    answers.sort(key=lambda answered: answered.cell.temperature or 0.0)
    system, type_ = page.name(cell), name_type(cell)
    words = (re.sub(r"[^A-Za-z0-9.-]+", "_", part) for part in ("score_boxes", metric, system, type_))
    name = shorten_name("_".join(words))
    marks = tuple(_mark(answered, unit) for answered in answers)
    summaries = _summaries(answers)
    counts = sorted({box.n for box in summaries})
    looks = evidence_looks(mark.series for mark in marks)
    drawn = tuple(_mark(answered, unit) for answered in _spaced(answers))
    thinned = (
        "" if len(drawn) == len(marks) else f" {N_DRAWN} of them are drawn, evenly spaced by rank; the CSV has all."
    )
    return Figure(
        name=name,
        title=f"Single questions: {word_for(metric)} of {name_panel(cell, page)}, {type_}",
        caption=_describe_medians(summaries, metric, unit),
        note="Each point is the mean over the runs of one question; boxes reach from quartile to quartile, whiskers "
        f"up to 1.5 times that distance, and points beyond are ringed. "
        f"{count_questions(counts[0], counts[-1])} in each box.{thinned}",
        marks=marks,
        titles=TITLES,
        draw=partial(boxes, drawn, TITLES, looks=looks, axis=_axis(metric, unit)),
        table=_table(summaries, unit),
    )


def _spaced(answers: Sequence[Answered]) -> list[Answered]:
    """Of boxes with very many questions some, from the lowest to the highest, so that the boxes stay where they are."""
    boxed: dict[tuple[float | None, str | None], list[Answered]] = {}
    for answered in answers:
        boxed.setdefault((answered.cell.temperature, answered.cell.perturbation), []).append(answered)
    kept: set[int] = set()
    for own in boxed.values():
        ranked = sorted(own, key=lambda answered: (answered.mean, answered.question_id))
        step = max(1.0, (len(ranked) - 1) / (N_DRAWN - 1))
        kept.update(id(ranked[round(place * step)]) for place in range(min(N_DRAWN, len(ranked))))
    return [answered for answered in answers if id(answered) in kept]


def _axis(metric: str, unit: Unit) -> Axis:
    return Axis(title=f"{metric} by question", has_zero=unit == "share")


def cool_and_hot(temperatures: set[float], cool: float) -> list[float]:
    """The temperature nearest to `cool`, the cooler of two, and the hottest."""
    nearest = min(temperatures, key=lambda temperature: (round(abs(temperature - cool), 9), temperature))
    return sorted({nearest, max(temperatures)})


def _mark(answered: Answered, unit: Unit) -> Mark:
    temperature = answered.cell.temperature or 0.0
    return Mark(
        value=answered.mean,
        unit=unit,
        series=name_evidence(answered.cell.perturbation),
        panel=f"temperature {temperature:g}",
        temperature=temperature,
        label=answered.question_id,
    )


def _summaries(answers: Sequence[Answered]) -> list[Box]:
    """The coolest first, undisturbed evidence before other."""
    means: dict[tuple[float, str | None], list[float]] = {}
    for answered in answers:
        key = answered.cell.temperature or 0.0, answered.cell.perturbation
        means.setdefault(key, []).append(answered.mean)
    summaries = [
        Box(
            perturbation=perturbation,
            temperature=temperature,
            n=len(values),
            quartiles=tuple(float(end) for end in np.quantile(values, (0, 0.25, 0.5, 0.75, 1))),
        )
        for (temperature, perturbation), values in means.items()
    ]
    return sorted(
        summaries,
        key=lambda box: (box.temperature, box.perturbation != UNCHANGED, name_evidence(box.perturbation)),
    )


def _table(summaries: Sequence[Box], unit: Unit) -> Table:
    return Table(
        columns=("Evidence", "Temperature", "Questions", *NUMBERS),
        rows=tuple(
            (
                name_evidence(box.perturbation),
                format_entry(box.temperature),
                box.n,
                *(format_entry(end, unit) for end in box.quartiles),
            )
            for box in summaries
        ),
    )


def _describe_medians(summaries: Sequence[Box], metric: str, unit: Unit) -> str:
    """`At temperature 0.6 the median … is 0.93 with unchanged evidence, and lowest with sentence removal: 0.88.`"""
    if (most := max(box.n for box in summaries)) < N_LEAST:
        return f"{sentence_case(too_few(most, 'speak of a median'))}."
    sentences = []
    for temperature in dict.fromkeys(box.temperature for box in summaries):
        here = [box for box in summaries if box.temperature == temperature]
        original = next((box for box in here if box.perturbation == UNCHANGED), None)
        others = [box for box in here if box is not original]
        first = original or others[0]
        evidence = f"{name_evidence(first.perturbation)}{' evidence' if original else ''}"
        text = f"At temperature {temperature:g} the median {word_for(metric)} is {_median(first, unit)} with {evidence}"
        sentences.append(f"{text}{_describe_disturbed(others, unit) if original else ''}.")
    return " ".join(sentences)


def _describe_disturbed(boxes: Sequence[Box], unit: Unit) -> str:
    """Which kind of disturbed evidence has the lowest median; where several have it, all of them."""
    if not boxes:
        return ""
    least = min(box.median for box in boxes)
    lowest = [box for box in boxes if box.median == least]
    names, median = join_words([name_evidence(box.perturbation) for box in lowest]), _median(lowest[0], unit)
    if len(boxes) == 1:
        return f", and {median} with {names}"
    if len(lowest) == len(boxes):
        return f"; every kind of disturbed evidence has a median of {median}"
    return f"; of the disturbed it is lowest with {names}: {median}"


def _median(box: Box, unit: Unit) -> str:
    return format_number(box.median, unit) + (" %" if unit == "share" else "")
