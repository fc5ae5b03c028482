"""The verdict of a report: which sentences of the findings become cards, and in which order."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from shaketable.factors import title_of
from shaketable.report.charts.drawing import draw_svg
from shaketable.report.charts.spark import spark, spark_rows
from shaketable.report.content import flat_name, named_evidence, not_applied
from shaketable.report.figures import figure_name
from shaketable.report.words import bounds, difference, holds_zero, level, number, said
from shaketable.types import Finding

Row = Mapping[str, Any]
N_CARDS = 6
KICKERS = {
    "ceiling": "Guideline · {system}",
    "heat": "Dice · {system}",
    "factual_robustness": "Facts · {system}",
    "wording": "Wording · {system}",
    "decision": "Search · {system}",
    "confidence": "Over-confidence · {system}",
    "evidence": "Evidence · {system}",
    "outcome": "Searching · {system}",
    "variance_shares": "Together · {system}",
    "context_reliance": "Reliance · {system}",
    "choice": "Choice · {system}",
    "ranking": "Ranking · {system}",
    "dominance": "Dice or evidence · {system}",
    "degradation": "Evidence · {system}",
    "onset": "Dice · {system}",
    "amplification": "Evidence when hot · {system}",
    "variability": "Spread · {system}",
    "level": "Level · {system}",
}
"""The kinds of headline that make a card, the most important first."""
LINKS = {
    "ceiling": "guidelines",
    "onset": "guidelines",
    "choice": "guidelines",
    "ranking": "ranking",
    "dominance": "dominance",
    "factual_robustness": "factual_robustness",
    "degradation": "degradation",
    "wording": "wording_accuracy",
    "decision": "search_decisions",
    "confidence": "confidence_by_wording",
    "outcome": "outcomes",
    "amplification": "amplification",
    "variance_shares": "variance_bar",
    "context_reliance": "reliance_by_temperature",
}
"""The block or figure that shows the evidence of a headline, where its name does not follow from the metric."""
SPARKS = {
    "heat": "{metric} by temperature",
    "evidence": "Loss by temperature",
    "degradation": "Shift of {metric} by temperature",
    "level": "{metric} by temperature",
    "context_reliance": "Reliance by temperature",
    "variability": "Coefficient of variation by temperature",
}
UNCLEAR = ("undecided", "no change shown", "no clear winner", "not shown")
"""Verdicts that claim nothing: a card has better things to say."""


@dataclass(frozen=True, kw_only=True)
class Card:
    kicker: str
    number: str
    interval: str
    sentence: str
    detail: str
    spark_title: str
    svg: Markup | None
    """None: there is no line to draw."""
    link: str | None
    """The figure or block that shows the evidence."""


@dataclass(frozen=True, kw_only=True)
class More:
    """What a finding says beyond the cards."""

    question: str
    sentences: Sequence[str]


def draw_cards(findings: Sequence[Finding], targets: set[str]) -> tuple[list[Card], list[More]]:
    """A few headlines as cards, and what is left.

    Ceilings come first, at most two. Then the first of every kind before the second of any, claims before sentences
    that claim nothing. Links go only to targets that the page has.
    """
    chosen = _chosen(findings)
    shown = {said(row) for _, row in chosen}
    left = [
        More(question=finding.question, sentences=[text for text in finding.sentences if text not in shown])
        for finding in findings
    ]
    cards = [_card(finding, row, f"spark-{i}", findings, targets) for i, (finding, row) in enumerate(chosen)]
    return cards, [more for more in left if more.sentences]


def _chosen(findings: Sequence[Finding]) -> list[tuple[Finding, Row]]:
    picks: list[tuple[Finding, Row]] = []
    for finding in findings:
        rows = {said(row): row for row in finding.rows if row.get("headline") in KICKERS}
        picks += [(finding, rows[sentence]) for sentence in finding.sentences if sentence in rows]
    order, flat = list(KICKERS), not_applied(findings)
    turns: dict[str, int] = {}
    ranked = []
    for finding, row in sorted(picks, key=lambda pick: _is_unclear(pick[1], flat)):
        kind = str(row["headline"])
        turn = turns[kind] = turns.get(kind, -1) + 1
        is_first = kind == "ceiling" and turn < 2 and not _is_unclear(row, flat)
        ranked.append(((not is_first, _is_unclear(row, flat), turn, order.index(kind)), finding, row))
    best = sorted(ranked, key=lambda one: one[0])[:N_CARDS]
    best.sort(key=lambda one: (order.index(one[2]["headline"]), one[0]))
    return [(finding, row) for _, finding, row in best]


def _is_unclear(row: Row, flat: Collection[str]) -> bool:
    """Whether a sentence claims nothing, or speaks of a model that ignores its temperature."""
    if flat_name(row) in flat:
        return True
    if row.get("contrast") or row["headline"] == "amplification":
        return holds_zero(row)
    if row["headline"] == "degradation":
        return not row["n_shown"]
    if row["headline"] in ("variance_shares", "context_reliance", "outcome", "decision", "confidence"):
        return row["low"] is None or row["low"] <= 0 or bool(row.get("is_floored"))
    return row.get("verdict") in UNCLEAR


def _card(finding: Finding, row: Row, name: str, findings: Sequence[Finding], targets: set[str]) -> Card:
    source, line = _line(finding, row, findings)
    has_line = bool(source and line) and len(spark_rows(source, line)) > 1
    value, interval = _number(row)
    return Card(
        kicker=KICKERS[row["headline"]].format(**row),
        number=value,
        interval=interval,
        sentence=row["sentence"],
        detail=row["detail"] or "",
        spark_title=_spark_title(row),
        svg=Markup(draw_svg(spark(source, line), name)) if has_line else None,
        link=next((target for target in _links(row) if target in targets), None),
    )


def _number(row: Row) -> tuple[str, str]:
    """The number of a card, and its interval."""
    interval = bounds(row).strip()
    if row["unit"] == "temperature":
        ends = "" if row["low"] is None else f"[{row['low']:g}, {row['high']:g}]"
        if row["value"] is None:
            return "no ceiling", ""
        return (f"≤ {row['value']:g}" if row["headline"] == "ceiling" else f"{row['value']:g}"), ends
    if row["headline"] in (
        "level",
        "variability",
        "factual_robustness",
        "decision",
        "confidence",
        "outcome",
        "variance_shares",
    ):
        return level(row).removesuffix(bounds(row)), interval
    if row["headline"] == "dominance":
        return number(row["value"], "ratio"), interval
    return difference(row).removesuffix(bounds(row)), interval


def _line(finding: Finding, row: Row, findings: Sequence[Finding]) -> tuple[Any, Any]:
    """The finding and the row whose line over temperatures stands behind a headline; None where there is none."""
    if row["headline"] == "ceiling":
        of = {"perturbation": row["worst_perturbation"], "type": row["worst_type"], "unit": row["score_unit"]}
        of["variation"] = row.get("worst_variation") or row["variation"]
        source = next((one for one in findings if one.analysis == "correctness"), None)
        return source, {**row, **of, "contrast": None}
    if row["headline"] == "degradation":
        drops = tuple({**one, "contrast": f"unchanged - {one['perturbation']}"} for one in finding.rows)
        return replace(finding, rows=drops), {**row, "contrast": f"unchanged - {row['perturbation']}"}
    return (finding, row) if "contrast" in row else (None, None)


def _spark_title(row: Row) -> str:
    metric = title_of(row["metric"])
    if row["headline"] != "ceiling":
        return SPARKS.get(row["headline"], "").format(metric=metric)
    parts = (named_evidence(row["worst_perturbation"]), row.get("worst_variation"), row["worst_type"])
    worst = ", ".join(part for part in parts if part)
    return f"{metric} by temperature, {worst}"


def _links(row: Row) -> list[str]:
    kind, metric = row["headline"], str(row["metric"])
    figure = {"ceiling": "heat", "onset": "heat", "level": None}.get(kind, kind)
    figures = [figure_name(figure, metric)] if figure in ("heat", "evidence", "variability") else []
    return figures + ([LINKS[kind]] if kind in LINKS else [])
