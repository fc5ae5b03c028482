"""How much repeated answers differ, against temperature, with the stability baseline."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from shaketable.analyses.evidence.variability import Variability
from shaketable.report.charts.guides import Guide
from shaketable.report.charts.layout import Axis
from shaketable.report.charts.lines import lines
from shaketable.report.charts.looks import evidence_looks
from shaketable.report.charts.marks import Mark
from shaketable.report.evidence_marks import (
    TITLES,
    describe_counts,
    make_mark,
    name_intervals,
    name_variation,
    of_shown_types,
)
from shaketable.report.section import Figure, Headline, Page, Table
from shaketable.report.words import format_entry, format_value
from shaketable.types import Estimate


def make_figure(metric: str, result: Variability, headlines: Sequence[Headline], page: Page) -> Figure | None:
    known = [spread for spread in result.spreads if spread.metric == metric and spread.cv.value is not None]
    spreads = of_shown_types(known)
    marks = tuple(make_mark(spread.cell, spread.cv, spread.n_missing, page) for spread in spreads)
    if len({mark.x for mark in marks}) < 2:
        return None
    baselines = {(mark.panel, mark.row): spread.baseline for mark, spread in zip(marks, spreads, strict=True)}
    guides = [
        Guide(kind="baseline", at=at, words=f"mean {format_value(baseline)}", panel=panel, row=row)
        for (panel, row), baseline in baselines.items()
        if baseline is not None and (at := baseline.value) is not None
    ]
    is_share = spreads[0].cv.unit == "share"
    axis = Axis(title=f"Flip rate of {metric}" if is_share else f"CV of {metric} (sd / mean)")
    corrected = ", corrected for the small number of runs" if result.formula == "unbiased" else ""
    what = (
        "The flip rate is the chance that two answers to the same question are judged differently, 2 p (1 − p); the "
        "dotted line is its mean over temperatures in the baseline. "
        if is_share
        else f"The coefficient of variation is sd divided by mean{corrected}; the dotted line is its mean "
        "over temperatures in the baseline. A question of which no answer scores above 0 has no coefficient "
        "and is left out, so that few may remain behind a point: n says how many. "
    )
    looks = evidence_looks(mark.series for mark in marks)
    return Figure(
        name=name_variation(metric),
        title=f"How much repeated answers differ: {metric}",
        caption=next((headline.sentence for headline in headlines if metric == result.metric), ""),
        note=f"{what}Bands are {name_intervals(page)}. {describe_counts(marks)}",
        marks=marks,
        titles=TITLES,
        draw=partial(lines, marks, TITLES, looks=looks, axis=axis, guides=guides),
        table=_figure_table(marks, [spread.baseline for spread in spreads]),
        is_main=metric == result.metric,
    )


def _figure_table(marks: Sequence[Mark], baselines: Sequence[Estimate | None]) -> Table:
    columns = TITLES.columns()
    return Table(
        columns=(*columns.values(), "Baseline"),
        rows=tuple(
            (
                *(format_entry(getattr(mark, name)) for name in columns),
                format_entry(None if baseline is None else baseline.value),
            )
            for mark, baseline in zip(marks, baselines, strict=True)
        ),
    )
