"""The figures and verdict cards of a report, drawn from findings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import altair as alt
import polars as pl
from markupsafe import Markup

from shaketable.analyses.wording import bounds, difference, level
from shaketable.charts.drawing import draw_png, draw_svg
from shaketable.charts.evidence_drops import drop_rows, evidence_drops
from shaketable.charts.panels import panel_rows
from shaketable.charts.score_by_temperature import score_by_temperature
from shaketable.charts.spark import spark, spark_rows
from shaketable.charts.variation_by_temperature import variation_by_temperature
from shaketable.types import Finding

Row = Mapping[str, Any]
N_CARDS = 6
FILES = {"heat": "score_by_temperature", "evidence": "evidence_drops", "variability": "variation_by_temperature"}
"""Where the evidence of each kind of headline is drawn."""
KICKERS = {
    "heat": "Dice · {system}",
    "evidence": "Evidence · {system}",
    "level": "Level · {system}",
    "variability": "Spread · {system}",
}
SPARKS = {
    "heat": "{metric} by temperature",
    "evidence": "Loss by temperature",
    "level": "{metric} by temperature",
    "variability": "Coefficient of variation by temperature",
}
TITLES = {"contains": "Correct answers"}
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
NOT_IN_CSV = ("headline", "sentence", "detail", "row", "at")


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
    """False: the same for another metric, folded away."""
    svg: Markup
    png: bytes
    columns: Mapping[str, str]
    rows: Sequence[Mapping[str, Any]]
    csv: str


@dataclass(frozen=True, kw_only=True)
class Card:
    kicker: str
    number: str
    interval: str
    sentence: str
    detail: str
    spark_title: str
    svg: Markup | None
    """None: a single temperature makes no line."""
    link: str | None
    """The figure that shows the evidence."""


def draw_figures(findings: Sequence[Finding]) -> list[Figure]:
    """Analyses without a picture, and findings with nothing to draw, give no figure."""
    drawers = {"correctness": (_score, _drops), "variability": (_variation,)}
    drawn = (
        draw(finding, metric)
        for finding in findings
        for metric in _metrics(finding)
        for draw in drawers.get(finding.analysis, ())
    )
    return [figure for figure in drawn if figure]


def draw_cards(findings: Sequence[Finding]) -> tuple[list[Card], list[str]]:
    """A few headlines of each kind as cards, the first of every kind before the second of any, and what is left."""
    kinds: dict[str, list[tuple[Finding, Row]]] = {}
    for finding in findings:
        rows = {_said(row): row for row in finding.rows if row.get("headline") in KICKERS}
        for sentence in finding.sentences:
            if sentence in rows:
                kinds.setdefault(str(rows[sentence]["headline"]), []).append((finding, rows[sentence]))
    in_turn = [pick for turn in zip_longest(*kinds.values()) for pick in turn if pick]
    chosen = sorted(in_turn[:N_CARDS], key=lambda pick: list(kinds).index(pick[1]["headline"]))
    shown = {_said(row) for _, row in chosen}
    left = [sentence for finding in findings for sentence in finding.sentences if sentence not in shown]
    return [_card(finding, row, f"spark-{i}") for i, (finding, row) in enumerate(chosen)], left


def _said(row: Row) -> str:
    return f"{row['sentence']} {row['detail']}"


def _metrics(finding: Finding) -> list[str]:
    """The main metric first."""
    metrics = dict.fromkeys(str(row["metric"]) for row in finding.rows)
    return sorted(metrics, key=lambda metric: metric != finding.settings.get("main_metric"))


def _score(finding: Finding, metric: str) -> Figure | None:
    rows = panel_rows(finding, metric)
    if len({row["temperature"] for row in rows}) < 2:
        return None
    return _figure(
        finding,
        metric,
        chart=score_by_temperature(finding, metric),
        chapter="dice",
        title=f"{TITLES.get(metric, metric)} against temperature",
        headline="heat",
        note=f"Lines are means over questions, bands {_confidence(finding)} intervals.",
        rows=rows,
    )


def _drops(finding: Finding, metric: str) -> Figure | None:
    rows = drop_rows(finding, metric)
    if not rows:
        return None
    return _figure(
        finding,
        metric,
        chart=evidence_drops(finding, metric),
        chapter="evidence",
        title=f"Drop with disturbed evidence: {TITLES.get(metric, metric).lower()}",
        headline="evidence",
        note="Unchanged minus disturbed evidence, paired by question; right of the line the score fell. "
        f"Bars are {_confidence(finding)} intervals.",
        rows=rows,
    )


def _variation(finding: Finding, metric: str) -> Figure | None:
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
        rows=rows,
    )


def _figure(
    finding: Finding,
    metric: str,
    *,
    chart: alt.TopLevelMixin,
    chapter: str,
    title: str,
    headline: str,
    note: str,
    rows: Sequence[Row],
) -> Figure:
    name = _figure_name(headline, metric)
    captions = {
        _said(row): row["sentence"] for row in finding.rows if (row["headline"], row["metric"]) == (headline, metric)
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
        is_main=metric == finding.settings["main_metric"],
        svg=Markup(draw_svg(chart, name)),
        png=draw_png(chart),
        columns=COLUMNS | extra,
        rows=rows,
        csv=table.drop(*NOT_IN_CSV, strict=False).write_csv(),
    )


def _figure_name(headline: str, metric: str) -> str:
    return f"{FILES[headline]}_{re.sub(r'[^A-Za-z0-9]+', '_', metric)}"


def _confidence(finding: Finding) -> str:
    return f"{100 * float(finding.settings['confidence']):g} % bootstrap"  # type: ignore[arg-type]


def _card(finding: Finding, row: Row, name: str) -> Card:
    headline = row["headline"]
    line = spark_rows(finding, row)
    is_line = len(line) > 1
    return Card(
        kicker=KICKERS[headline].format(**row),
        number=(difference(row) if row["contrast"] else level(row)).removesuffix(bounds(row)),
        interval=bounds(row).strip(),
        sentence=row["sentence"],
        detail=row["detail"],
        spark_title=SPARKS[headline].format(metric=TITLES.get(row["metric"], row["metric"])),
        svg=Markup(draw_svg(spark(finding, row), name)) if is_line else None,
        link=_figure_name(headline, row["metric"])
        if headline in FILES and (is_line or headline == "evidence")
        else None,
    )
