"""Do runs agree? Runs of the same questions beside each other, as published tables have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from shaketable.analyses.wording.run_deviation import Deviation, RunDeviation
from shaketable.factors import ORIGINAL, Cell, word_for
from shaketable.report.grouping import group_by_system
from shaketable.report.section import Headline, Page, Section, Table
from shaketable.report.wording_words import (
    make_headline,
    name_dataset,
    name_rewording,
    name_system_and_heat,
    name_way,
    name_where,
)
from shaketable.report.words import Entry, count, format_number

CAVEAT = (
    "A run is a repeat of every question. Questions without a score in one of the runs are in none of them. The "
    "deviation is that of whole runs; how far questions differ is told by the intervals elsewhere."
)


def section(result: RunDeviation, page: Page) -> Section:
    metrics = list(dict.fromkeys(deviation.metric for deviation in result.deviations))
    by_metric = [[run for run in result.deviations if run.metric == metric] for metric in metrics]
    known = [[run for run in deviations if run.value is not None] for deviations in by_metric]
    return Section(
        chapter="wording",
        title="Do runs agree?",
        question="How far do runs of the same questions lie apart?",
        headlines=tuple(_headline(group, page) for deviations in known for group in group_by_system(deviations)),
        tables=tuple(
            _table(deviations, word_for(metric) if len(metrics) > 1 else "", page)
            for metric, deviations in zip(metrics, by_metric, strict=True)
        ),
        caveats=(CAVEAT,) if metrics else (),
    )


def _headline(deviations: Sequence[Deviation], page: Page) -> Headline:
    """How far the runs of the original wording lie apart, and between which bounds those of the others do."""
    first, values = deviations[0], [deviation.value or 0.0 for deviation in deviations]
    points = " points" if first.unit == "share" else ""
    least, most = (format_number(value, first.unit) for value in (min(values), max(values)))
    among = f"; {least} to {most} with each of {len(values)} wordings" if len(values) > 1 else ""
    is_original = first.cell.variation == ORIGINAL
    wording = "the original wording" if is_original else name_rewording(first.cell.variation)
    return make_headline(
        "deviation",
        first.cell,
        f"Runs of {name_where(first.cell, page)} lie {format_number(values[0], first.unit)}{points} of "
        f"{word_for(first.metric)} apart (standard deviation) with {wording}{among}.",
        f"{count(first.n_runs, 'run')} of {count(first.n, 'question')} each.",
        page,
    )


def _table(deviations: Sequence[Deviation], title: str, page: Page) -> Table:
    """A line per system and dataset, a column per way of asking: mean ± standard deviation over runs."""
    lines: dict[Cell, list[Deviation]] = {}
    for deviation in deviations:
        lines.setdefault(replace(deviation.cell, variation=None), []).append(deviation)
    variations = list(dict.fromkeys(deviation.cell.variation for deviation in deviations))
    rows: list[tuple[Entry, ...]] = []
    for cell, own in lines.items():
        entries = {deviation.cell.variation: _format(deviation) for deviation in own}
        ways = (entries.get(variation) for variation in variations)
        rows.append((name_system_and_heat(cell, page), name_dataset(cell), *ways, own[0].n_runs))
    columns = ("System", "Dataset", *(name_way(variation) for variation in variations), "Runs")
    return Table(title=title, columns=columns, rows=tuple(rows))


def _format(deviation: Deviation) -> str:
    """`63.4 ± 1.2 %`, with one digit as in published tables; the mean alone where one run has no deviation."""
    if deviation.mean is None:
        return deviation.reason or "–"
    if deviation.unit == "share":
        spread = "" if deviation.value is None else f" ± {100 * deviation.value:.1f}"
        return f"{100 * deviation.mean:.1f}{spread} %"
    spread = "" if deviation.value is None else f" ± {format_number(deviation.value, deviation.unit)}"
    return f"{format_number(deviation.mean, deviation.unit)}{spread}"
