"""The figures of a report, drawn from findings and, where single questions are shown, from the score table."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt
import polars as pl
from markupsafe import Markup

from shaketable.analyses.conditions import ORIGINAL, by_question, system_of
from shaketable.factors import title_of
from shaketable.report.charts.drawing import draw_png, draw_svg
from shaketable.report.charts.evidence_drops import drop_rows, evidence_drops
from shaketable.report.charts.interactive import interactive
from shaketable.report.charts.panels import panel_rows, type_order
from shaketable.report.charts.score_boxes import box_rows, score_boxes
from shaketable.report.charts.score_by_temperature import Band, banded, score_by_temperature
from shaketable.report.charts.variation_by_temperature import variation_by_temperature
from shaketable.report.content import CONDITIONS, extreme_systems, flat_name, named_evidence, not_applied
from shaketable.report.old_words import measured, number
from shaketable.types import OldFinding

Row = Mapping[str, Any]
FILES = {"heat": "score_by_temperature", "evidence": "evidence_drops", "variability": "variation_by_temperature"}
"""Where the evidence of each kind of headline is drawn."""
COLUMNS = {
    "system": "System",
    "type": "Question type",
    "evidence": "Evidence",
    "temperature": "Temperature",
    "value": "Value",
    "low": "Low",
    "high": "High",
    "n": "Questions",
    "n_missing": "Records missing",
}
POINT_COLUMNS = {"question_id": "Question", "evidence": "Evidence", "temperature": "Temperature", "value": "Value"}
BOX_COLUMNS = {
    "evidence": "Evidence",
    "temperature": "Temperature",
    "n": "Questions",
    "lowest": "Lowest",
    "q1": "Lower quartile",
    "median": "Median",
    "q3": "Upper quartile",
    "highest": "Highest",
}
NOT_IN_CSV = ("headline", "sentence", "detail", "row", "at", "panel", "remark", "group", "jitter")
N_SAID = 3
"""Sentences of a caption, at most."""
REMARK = "temperature not applied"


@dataclass(frozen=True, kw_only=True)
class Figure:
    chapter: str
    name: str
    """Also its file name."""
    title: str
    caption: str
    """What it shows, as a finding; empty where no sentence was made."""
    note: str
    """How to read it, with n."""
    is_main: bool
    """False: the same for another metric or system, folded away."""
    is_on_page: bool = True
    """False: only a file, because there are many alike."""
    svg: Markup
    """As it is printed, and shown where scripts are off."""
    spec: Mapping[str, Any]
    """The same for the page: it answers to the pointer."""
    png: Callable[[], bytes]
    """Draws the file, which the page does not need."""
    columns: Mapping[str, str]
    rows: Sequence[Mapping[str, Any]]
    csv: str


def draw_figures(findings: Sequence[OldFinding], table: pl.DataFrame, band: Band = "interval") -> list[Figure]:
    """Analyses without a picture, and findings with nothing to draw, give no figure."""
    marked, captions = _with_marks(findings), _captions(findings)
    by_ceiling = {str(row["metric"]) for finding in marked for row in finding.rows if row.get("ceiling") is not None}
    drawn: list[Figure | None] = []
    for finding in marked:
        for metric in _metrics(finding, by_ceiling):
            is_main = metric == finding.settings.get("main_metric") or metric in by_ceiling
            if finding.analysis == "correctness":
                drawn += [_score(finding, metric, band, is_main), _drops(finding, metric, is_main)]
            elif finding.analysis == "variability":
                drawn.append(_variation(finding, metric, is_main))
    if any(finding.analysis == "correctness" for finding in findings):
        drawn += _boxes(findings, table)
    return [
        replace(figure, caption=figure.caption or captions.get(figure.name, ""))
        for figure in drawn
        if figure is not None
    ]


def pictures(
    chart: alt.TopLevelMixin, name: str, columns: Mapping[str, str], *, live: alt.TopLevelMixin | None = None
) -> dict[str, Any]:
    """One chart in the three forms that a figure has; `columns` are told under the pointer.

    `live` is drawn on the page in its place, where what can be moved shows more than what is printed.
    """
    return {
        "svg": Markup(draw_svg(chart, name)),
        "spec": interactive(chart if live is None else live, columns),
        "png": functools.partial(draw_png, chart),
    }


def finding_figure(
    finding: OldFinding,
    chart: alt.TopLevelMixin,
    rows: Sequence[Row],
    columns: Mapping[str, str],
    *,
    chapter: str,
    name: str,
    title: str,
    note: str,
    caption: str = "",
    is_main: bool = True,
    is_on_page: bool = True,
    shown: Sequence[Row] | None = None,
) -> Figure:
    """A figure of one finding, under its first sentence unless there is a caption. `shown` are the table's rows on the
    page where these are not the drawn ones with their units; the CSV has all that is drawn."""
    if shown is None:
        shown = [{column: row.get(column) for column in (*columns, "unit")} for row in rows]
    return Figure(
        chapter=chapter,
        name=name,
        title=title,
        caption=caption or (finding.sentences[0] if is_main and finding.sentences else ""),
        note=note,
        is_main=is_main,
        is_on_page=is_on_page,
        **pictures(chart, name, columns),
        columns=columns,
        rows=shown,
        csv=pl.DataFrame(rows, infer_schema_length=None).select(*columns).write_csv(),
    )


def intervals_and_n(finding: OldFinding, rows: Sequence[Row]) -> tuple[str, str]:
    """What kind of intervals a finding has, and how many questions its rows are of, for a note."""
    counts = sorted({row["n"] for row in rows})
    n = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{100 * float(str(finding.settings['confidence'])):g} % intervals", f"n = {n} questions"


def figure_name(headline: str, metric: str) -> str:
    return f"{FILES[headline]}_{re.sub(r'[^A-Za-z0-9]+', '_', metric)}"


# --- what panels are marked with ------------------------------------------------------------------


def _with_marks(findings: Sequence[OldFinding]) -> list[OldFinding]:
    """The findings that are drawn: rows with their system's `ceiling`, and a `remark` on temperature not applied."""
    ceilings = {
        (row["metric"], row["system"]): row["value"]
        for finding in findings
        for row in finding.rows
        if finding.analysis == "guidelines" and row.get("decides") and row["next_temperature"] is not None
    }
    flat = not_applied(findings)

    def marked(row: Row) -> dict[str, Any]:
        remark = REMARK if flat_name(row) in flat else None
        return {**row, "ceiling": ceilings.get((row["metric"], row["system"])), "remark": remark}

    return [
        replace(finding, rows=tuple(marked(row) for row in finding.rows))
        for finding in findings
        if finding.analysis in CONDITIONS
    ]


def _captions(findings: Sequence[OldFinding]) -> dict[str, str]:
    """What guidelines say of figures that correctness, which speaks of one metric, says nothing of."""
    kinds = {"ceiling": "heat", "noise": "evidence"}
    told: dict[str, list[str]] = {}
    for finding in findings:
        for row in finding.rows if finding.analysis == "guidelines" else ():
            if row["headline"] in kinds:
                told.setdefault(figure_name(kinds[str(row["headline"])], str(row["metric"])), []).append(
                    str(row["sentence"])
                )
    return {name: " ".join(sentences[:N_SAID]) for name, sentences in told.items()}


def _metrics(finding: OldFinding, first: set[str]) -> list[str]:
    """Those with a ceiling and the main one first."""
    metrics = dict.fromkeys(str(row["metric"]) for row in finding.rows)
    return sorted(metrics, key=lambda metric: (metric not in first, metric != finding.settings.get("main_metric")))


# --- small multiples and forests ------------------------------------------------------------------


def _score(finding: OldFinding, metric: str, band: Band, is_main: bool) -> Figure | None:
    rows = panel_rows(finding, metric)
    if len({row["temperature"] for row in rows}) < 2:
        return None
    bands = f"{_confidence(finding)} intervals" if band == "interval" else "± the standard deviation between runs"
    ceiling = any(row["ceiling"] is not None for row in rows)
    beyond = " The broken line is the ceiling; beyond it, in the shade, too much may be lost." if ceiling else ""
    return _figure(
        finding,
        metric,
        chart=score_by_temperature(finding, metric, band=band),
        chapter="dice",
        title=f"{title_of(metric)} against temperature",
        headline="heat",
        note=f"Lines are means over questions, bands {bands}.{beyond}",
        is_main=is_main,
        rows=banded(rows, band),
    )


def _drops(finding: OldFinding, metric: str, is_main: bool) -> Figure | None:
    rows = drop_rows(finding, metric)
    if not rows:
        return None
    has_slider = len({row["temperature"] for row in rows}) > 1
    return _figure(
        finding,
        metric,
        chart=evidence_drops(finding, metric),
        live=evidence_drops(finding, metric, slider=True) if has_slider else None,
        chapter="evidence",
        title=f"{title_of(metric)} with disturbed evidence",
        headline="evidence",
        note="Unchanged minus disturbed evidence, paired by question; right of the line the score fell. "
        f"Bars are {_confidence(finding)} intervals.",
        is_main=is_main,
        rows=rows,
    )


def _variation(finding: OldFinding, metric: str, is_main: bool) -> Figure | None:
    rows = panel_rows(finding, metric)
    if len({row["temperature"] for row in rows}) < 2:
        return None
    return _figure(
        finding,
        metric,
        chart=variation_by_temperature(finding, metric),
        chapter="dice",
        title=f"How much repeated answers differ: {metric}",
        headline="variability",
        note="The coefficient of variation is standard deviation divided by mean; the dotted stability baseline "
        f"is its mean over temperatures with unchanged evidence. Bands are {_confidence(finding)} intervals.",
        is_main=is_main,
        rows=rows,
    )


def _figure(
    finding: OldFinding,
    metric: str,
    *,
    chart: alt.TopLevelMixin,
    chapter: str,
    title: str,
    headline: str,
    note: str,
    is_main: bool,
    rows: Sequence[Row],
    live: alt.TopLevelMixin | None = None,
) -> Figure:
    name = figure_name(headline, metric)
    captions = {
        f"{row['sentence']} {row['detail']}": row["sentence"]
        for row in finding.rows
        if (row["headline"], row["metric"]) == (headline, metric)
    }
    counts = sorted({row["n"] for row in rows})
    n = f"n = {counts[0]}" if len(counts) == 1 else f"n = {counts[0]} to {counts[-1]}"
    table = pl.DataFrame(rows, infer_schema_length=None)
    extra = {"baseline": "Baseline"} if "baseline" in table.columns else {}
    return Figure(
        chapter=chapter,
        name=name,
        title=title,
        caption=str(next((captions[text] for text in finding.sentences if text in captions), "")),
        note=f"{note} {n} questions behind each point.",
        is_main=is_main,
        **pictures(chart, name, COLUMNS | extra, live=live),
        columns=COLUMNS | extra,
        rows=rows,
        csv=table.drop(*NOT_IN_CSV, strict=False).write_csv(),
    )


def _confidence(finding: OldFinding) -> str:
    return f"{100 * float(finding.settings['confidence']):g} % bootstrap"


# --- single questions -----------------------------------------------------------------------------


def _boxes(findings: Sequence[OldFinding], table: pl.DataFrame) -> Iterator[Figure]:
    """One for each system and type of question; on the page those that heat moves most and least."""
    correct = next(finding for finding in findings if finding.analysis == "correctness")
    metric = correct.settings["main_metric"]
    if not isinstance(metric, str):
        return
    unit = next((str(row["unit"]) for row in correct.rows if row["metric"] == metric), "score")
    flat, shown = not_applied(findings), extreme_systems(findings)
    questions = by_question(table.filter(metric=metric)).with_columns(system=system_of(table), unit=pl.lit(unit))
    questions = questions.rename({"mean": "value"}).drop("sd")
    groups = questions.partition_by("system", "type", as_dict=True)
    for system, type_ in sorted(groups, key=lambda key: (str(key[0]), type_order(str(key[1])))):
        rows = [
            {**row, "remark": REMARK if flat_name(row) in flat else None} for row in groups[system, type_].to_dicts()
        ]
        finding = OldFinding(analysis="questions", question="How do single questions fare?", rows=tuple(rows))
        if any(row["value"] is not None for row in rows):
            yield _box(finding, metric, unit, shown)


def _box(finding: OldFinding, metric: str, unit: str, shown: Sequence[str]) -> Figure:
    rows = box_rows(finding, metric)
    system, type_ = rows[0]["system"], rows[0]["type"]
    name = "score_boxes_" + "_".join(re.sub(r"[^A-Za-z0-9.-]+", "_", part) for part in (metric, system, type_))
    chart = score_boxes(finding, metric)
    summaries = _five_numbers(rows, unit)
    counts = sorted({summary["n"] for summary in summaries})
    n = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return Figure(
        chapter="evidence",
        name=name,
        title=f"Single questions: {measured(metric)} of {rows[0]['panel']}, {type_}",
        caption=_medians(summaries, metric, unit),
        note="Each point is the mean over the runs of one question; boxes reach from quartile to quartile, whiskers "
        f"up to 1.5 times that distance, and points beyond are ringed. n = {n} questions in each box.",
        is_main=system == shown[0] if shown else True,
        is_on_page=system in shown or not shown,
        **pictures(chart, name, POINT_COLUMNS),
        columns=BOX_COLUMNS,
        rows=summaries,
        csv=pl.DataFrame(rows, infer_schema_length=None).drop(*NOT_IN_CSV, strict=False).write_csv(),
    )


def _five_numbers(rows: Sequence[Row], unit: str) -> list[dict[str, Any]]:
    """What a box shows, as numbers."""
    value = pl.col("value")
    found = (
        pl.DataFrame(rows, infer_schema_length=None)
        .group_by("temperature", "evidence", maintain_order=True)
        .agg(
            n=value.count().cast(pl.Int64),
            lowest=value.min(),
            q1=value.quantile(0.25, "linear"),
            median=value.median(),
            q3=value.quantile(0.75, "linear"),
            highest=value.max(),
        )
        .sort("temperature", pl.col("evidence") != ORIGINAL, "evidence")
    )
    return [{**row, "unit": unit} for row in found.to_dicts()]


def _medians(summaries: Sequence[Row], metric: str, unit: str) -> str:
    """`At temperature 0.6 the median … is 0.93 with unchanged evidence, and lowest with sentence removal: 0.88.`"""
    told = []
    percent = " %" if unit == "share" else ""
    for temperature in dict.fromkeys(row["temperature"] for row in summaries):
        here = [row for row in summaries if row["temperature"] == temperature]
        original = next((row for row in here if row["evidence"] == ORIGINAL), None)
        others = [row for row in here if row is not original]
        first = original or others[0]
        with_ = f"with {named_evidence(first['evidence'])}{' evidence' if original else ''}"
        median = f"{number(first['median'], unit)}{percent} {with_}"
        text = f"At temperature {temperature:g} the median {measured(metric)} is {median}"
        if original and others:
            lowest = min(others, key=lambda row: row["median"])
            text += f", and of the disturbed lowest with {lowest['evidence']}: "
            text += f"{number(lowest['median'], unit)}{percent}"
        told.append(text + ".")
    return " ".join(told)
