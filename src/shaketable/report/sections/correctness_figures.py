"""Pictures of correctness: scores against temperature, and what disturbances of the evidence cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from shaketable.analyses.evidence.correctness import Correctness, Level
from shaketable.analyses.evidence.guidelines import Guidelines
from shaketable.analyses.evidence.heat_ceilings import Ceiling
from shaketable.factors import title_of
from shaketable.report.charts.few import few
from shaketable.report.charts.forest import ForestStyle, forest, sliding_forest
from shaketable.report.charts.guides import Guide
from shaketable.report.charts.layout import Axis
from shaketable.report.charts.lines import lines
from shaketable.report.charts.looks import evidence_looks
from shaketable.report.charts.marks import Mark, Titles
from shaketable.report.evidence_marks import (
    TITLES,
    describe_counts,
    make_mark,
    metrics_in_order,
    name_drops,
    name_intervals,
    name_panel,
    name_scores,
    of_shown_types,
)
from shaketable.report.section import Figure, Headline, Page
from shaketable.report.sections.correctness_surface import make_surface
from shaketable.report.sections.guidelines import group_noise, has_headline
from shaketable.report.sections.guidelines_words import ceiling_sentence, is_shown_safe, noise_sentence, settle
from shaketable.report.sections.single_questions import make_boxes
from shaketable.report.words import name_evidence

DROP_TITLES = Titles(
    panel="", series="Evidence", temperature="Temperature", x="", label="System", n_missing="Records missing"
)
N_SENTENCES = 3
"""Of a caption, at most."""


def make_figures(result: Correctness, headlines: Sequence[Headline], page: Page) -> tuple[Figure, ...]:
    ceilings = _ceilings(page)
    figures = []
    for metric in metrics_in_order(result.levels, result.metric, ceilings):
        known = [headline for headline in headlines if metric == result.metric]
        is_main = metric == result.metric or metric in ceilings
        made = (
            _scores(metric, result, known, ceilings.get(metric, []), page),
            _drops(metric, result, known, page),
        )
        figures += [replace(figure, is_main=is_main) for figure in made if figure is not None]
    every = (*figures, *make_boxes(result, page), make_surface(result, page))
    return tuple(figure for figure in every if figure is not None)


def _ceilings(page: Page) -> dict[str, list[Guide]]:
    """By metric, in the panels of the systems that have one."""
    result = page.result(Guidelines)
    guides: dict[str, list[Guide]] = {}
    for ceiling in result.ceilings if result else ():
        value = settle(ceiling, page).ceiling.value
        if value is not None and ceiling.next_temperature is not None and _is_safe(ceiling, result, page):
            panel = name_panel(ceiling.cell, page)
            guides.setdefault(ceiling.metric, []).append(
                Guide(kind="ceiling", at=value, words=f"ceiling {value:g}", panel=panel)
            )
    return guides


def _is_safe(ceiling: Ceiling, result: Guidelines | None, page: Page) -> bool:
    """Whether the line would say something: the lowest temperature is allowed also where nothing is confirmed."""
    margins = {margin.metric: margin for margin in result.margins} if result else {}
    return is_shown_safe(ceiling, margins[ceiling.metric], page)


def _floor_guides(levels: Sequence[Level], page: Page) -> list[Guide]:
    floors = {name_panel(level.cell, page): page.floor(level.cell, level.metric) for level in levels}
    return [
        Guide(kind="baseline", at=floor, words=f"floor {floor:.3g}", panel=panel)
        for panel, floor in floors.items()
        if floor is not None
    ]


def _caption(kind: str, headlines: Sequence[Headline], from_guidelines: Sequence[str]) -> str:
    """What correctness, which speaks of one metric, says; else what guidelines say."""
    own = next((headline.sentence for headline in headlines if headline.kind == kind), "")
    return own or " ".join(from_guidelines[:N_SENTENCES])


# --- scores against temperature -------------------------------------------------------------------


def _scores(
    metric: str, result: Correctness, headlines: Sequence[Headline], ceilings: Sequence[Guide], page: Page
) -> Figure | None:
    known = [level for level in result.levels if level.metric == metric and level.mean.value is not None]
    has_intervals = page.band == result.band == "interval"
    marks = tuple(_score_mark(level, page, has_interval=has_intervals) for level in of_shown_types(known))
    if len({mark.x for mark in marks}) < 2:
        return None
    beyond = " Dashed line: highest temperature confirmed safe. Shaded: not confirmed."
    floors = _floor_guides(known, page)
    floor = " Dotted line: the floor, what answers to other questions score."
    bands = name_intervals(page) if has_intervals else "± the standard deviation between runs"
    is_share = marks[0].unit == "share"
    axis = Axis(title=title_of(metric) if is_share else f"Mean {metric}", has_zero=is_share)
    looks = evidence_looks(mark.series for mark in marks)
    return Figure(
        chapter="dice",
        name=name_scores(metric),
        title=f"{title_of(metric)} against temperature",
        caption=_caption("heat", headlines, _ceiling_sentences(metric, page)),
        note=f"Lines are means over questions, bands {bands}.{beyond if ceilings else ''}{floor if floors else ''} "
        f"{describe_counts(marks)}",
        marks=marks,
        titles=TITLES,
        draw=partial(lines, marks, TITLES, looks=looks, axis=axis, guides=[*ceilings, *floors]),
    )


def _ceiling_sentences(metric: str, page: Page) -> list[str]:
    result = page.result(Guidelines)
    margins = {margin.metric: margin for margin in result.margins} if result else {}
    ceilings = [settle(ceiling, page) for ceiling in (result.ceilings if result else ()) if ceiling.metric == metric]
    return [ceiling_sentence(ceiling, margins[metric], page) for ceiling in ceilings if has_headline(ceiling)]


def _score_mark(level: Level, page: Page, *, has_interval: bool) -> Mark:
    """With the band that was asked for; a single run has no deviation and no band."""
    mark = make_mark(level.cell, level.mean, level.n_missing, page)
    if has_interval:
        return mark
    value, sd = level.mean.value or 0.0, level.sd_runs
    return replace(mark, low=None if sd is None else value - sd, high=None if sd is None else value + sd)


# --- what disturbances cost -----------------------------------------------------------------------


def _drops(metric: str, result: Correctness, headlines: Sequence[Headline], page: Page) -> Figure | None:
    marks = _drop_marks(metric, result, page)
    if not marks:
        return None
    is_share = marks[0].unit == "share"
    axis = Axis(title=f"Drop ({'points' if is_share else metric})", numbers="points" if is_share else None)
    tried = sorted({mark.temperature or 0.0 for mark in marks})
    is_of_several = len({mark.label for mark in marks}) > 1
    titles = DROP_TITLES if is_of_several else replace(DROP_TITLES, series="")
    looks, style = evidence_looks(mark.series for mark in marks), ForestStyle(has_zero_line=True)
    shown = [mark for mark in marks if mark.temperature in few(tried)]
    largest_first = sorted(shown, key=lambda mark: (mark.temperature or 0.0, -(mark.value or 0.0)))
    return Figure(
        name=name_drops(metric),
        title=f"{title_of(metric)} with disturbed evidence",
        caption=_caption("evidence", headlines, _noise_sentences(metric, page)),
        note="Unchanged minus disturbed evidence, paired by question; right of the line the score fell. "
        f"Bars are {name_intervals(page)}. {describe_counts(marks)}",
        marks=marks,
        titles=DROP_TITLES,
        draw=partial(forest, largest_first, titles, looks=looks, axis=axis, style=style),
        draw_live=partial(sliding_forest, marks, titles, looks=looks, axis=axis, style=style)
        if len(tried) > 1
        else None,
    )


def _noise_sentences(metric: str, page: Page) -> list[str]:
    result = page.result(Guidelines)
    noise = [own for own in (result.noise if result else ()) if own.metric == metric]
    return [noise_sentence(line, page) for line in group_noise(noise)]


def _drop_marks(metric: str, result: Correctness, page: Page) -> tuple[Mark, ...]:
    """Of all questions at every temperature, the coolest first."""
    drops = [
        drop
        for drop in result.evidence_drops
        if drop.metric == metric and drop.cell.group is None and drop.drop.value is not None
    ]
    systems = [page.name(drop.cell) for drop in drops]
    marks = []
    for drop, system in zip(drops, systems, strict=True):
        evidence = name_evidence(drop.cell.perturbation) + (", as asked" if drop.is_as_asked else "")
        mark = make_mark(drop.cell, drop.drop, drop.n_missing, page)
        name = f"{system} · {evidence}" if len(set(systems)) > 1 else evidence
        temperature = drop.cell.temperature or 0.0
        panel = f"temperature {temperature:g}"
        marks.append(replace(mark, x=name, series=evidence, temperature=temperature, panel=panel, row="", label=system))
    return tuple(sorted(marks, key=lambda mark: mark.temperature or 0.0))
