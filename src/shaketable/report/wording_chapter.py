"""The chapter on wording: its figures and its blocks, made from the findings of rewording."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt

from shaketable.analyses.wording.rewording import ANSWERED, ORIGINAL
from shaketable.report.charts.accuracy_by_wording import accuracy_by_wording, accuracy_rows
from shaketable.report.charts.calls_by_wording import call_rows, calls_by_wording
from shaketable.report.charts.chain_correlations import LINKS, chain_correlations, chain_rows
from shaketable.report.charts.confidence_by_wording import confidence_by_wording, confidence_rows
from shaketable.report.charts.drift_by_hop import drift_by_hop, drift_rows
from shaketable.report.charts.flip_rates import flip_rates, flip_rows
from shaketable.report.charts.gold_by_hop import gold_by_hop, gold_rows
from shaketable.report.charts.outcome_classes import outcome_classes, outcome_rows
from shaketable.report.charts.query_panels import query_panels, query_rows
from shaketable.report.charts.wording_panels import asked
from shaketable.report.content import NOT_APPLIED, rows_of
from shaketable.report.old_blocks import Block, Table
from shaketable.report.old_figures import Figure, finding_figure, intervals_and_n
from shaketable.report.old_words import level, said
from shaketable.report.trajectories import deviation_block, trajectory_block
from shaketable.types import OldFinding

Row = Mapping[str, Any]
CHAPTER = "wording"
COLUMNS = {
    "system": "System",
    "panel": "Dataset",
    "asked": "Asked",
    "series": "Number",
    "value": "Value",
    "low": "Low",
    "high": "High",
    "n": "Questions",
}


class Drawing(NamedTuple):
    """A picture that a finding may give."""

    analysis: str
    title: str
    note: str
    rows: Callable[[OldFinding], Sequence[Row]]
    draw: Callable[[OldFinding], alt.TopLevelMixin]
    headline: str | None = None
    """Of the sentences that it stands under; None: any."""


DRAWINGS = {
    "flip_rates": Drawing(
        "search_decisions",
        "Does rewording flip the decision to search?",
        "Share of questions where a wording decides otherwise than the original, beside what runs of the original "
        "wording do by chance.",
        flip_rows,
        flip_rates,
        "decision",
    ),
    "accuracy_by_wording": Drawing(
        "wording_accuracy", "Correct answers by wording", "Means over questions.", accuracy_rows, accuracy_by_wording
    ),
    "confidence_by_wording": Drawing(
        "search_decisions",
        "Over- and under-confidence",
        "A search is needed where the closed-book answer is wrong. Shares of all questions.",
        confidence_rows,
        confidence_by_wording,
        "confidence",
    ),
    "query_panels": Drawing(
        "query_difficulty",
        "The wordings themselves",
        "Loss under the answering model, length, and similarity to the original.",
        query_rows,
        query_panels,
    ),
    "drift_by_hop": Drawing(
        "trajectories",
        "Drift of the searches",
        "Left or above: similarity of the queries of aligned searches. Then: searches without a supporting document.",
        drift_rows,
        drift_by_hop,
    ),
    "chain_correlations": Drawing(
        "drift_chain",
        "From the wording to the answer",
        "Rank correlations along the chain; left of the line the second falls as the first rises.",
        chain_rows,
        chain_correlations,
    ),
    "gold_by_hop": Drawing(
        "trajectories",
        "Supporting documents by search",
        "Of the trials that searched so often.",
        gold_rows,
        gold_by_hop,
    ),
    "outcome_classes": Drawing(
        "outcomes",
        "What searching did to the answer",
        "Against the closed-book answer to the same wording; the shares sum to one.",
        outcome_rows,
        outcome_classes,
    ),
    "calls_by_wording": Drawing(
        "cost_stability", "Searches and model calls by wording", "Means over questions.", call_rows, calls_by_wording
    ),
}
"""In the order of the chapter."""

BLOCKS: dict[str, tuple[str, Mapping[str, str]] | Callable[[OldFinding], Block]] = {
    "wording_accuracy": ("What rewording costs", {}),
    "run_deviation": deviation_block,
    "consistency": (
        "Do answers stay the same?",
        {
            "similarity": "similarity",
            "similarity_answered": "similarity, neither empty",
            "diversity": "diversity",
            "empty": "empty answers",
            "both_empty": "both empty",
        },
    ),
    "cost_stability": (
        "Do costs stay the same?",
        {
            "n_searches": "searches",
            "re_searches": "relative change of searches",
            "cvr_searches": "steadiness of searches",
            "n_calls": "model calls",
            "re_calls": "relative change of model calls",
            "cvr_calls": "steadiness of model calls",
            "n_tokens": "tokens generated",
        },
    ),
    "search_decisions": (
        "The decision to search",
        {
            "act": "searches at all",
            "flip_any": "flips",
            "noise_any": "flips by chance",
            "excess_any": "flips beyond chance",
            "flip_pair": "flips, by pair",
            "noise_pair": "by chance, by pair",
            "excess_pair": "beyond chance, by pair",
            "need": "needs a search",
            "over_confidence": "over-confidence",
            "under_confidence": "under-confidence",
        },
    ),
    "trajectories": (
        "Where the searches go",
        {
            "mss": "similarity of queries",
            "rfr": "failed searches",
            "collapse": "collapse of what is found",
            "disjoint": "nothing in common",
        },
    ),
    "trajectory_cases": trajectory_block,
    "drift_chain": ("Does drift explain lost answers?", LINKS),
    "outcomes": (
        "Does searching help?",
        {"helpful": "helpful", "harmful": "harmful", "stable": "stable", "unhelpful": "unhelpful"},
    ),
    "query_difficulty": (
        "The wordings themselves",
        {
            "query_loss": "loss, nats a token",
            "query_words": "words",
            "query_tokens": "tokens",
            "query_similarity": "similarity",
        },
    ),
}
"""Title and, by metric, the columns of its table; none: every metric under its own name. Or what makes the block."""


def wording_figures(findings: Sequence[OldFinding]) -> list[Figure]:
    """What can be drawn of the findings at hand, in the order of the chapter."""
    of = {finding.analysis: finding for finding in findings}
    return [
        figure
        for name, drawing in DRAWINGS.items()
        if drawing.analysis in of
        for figure in _figure(name, drawing, of[drawing.analysis])
    ]


def _figure(name: str, drawing: Drawing, finding: OldFinding) -> list[Figure]:
    """None without at least two ways of asking."""
    rows = [{**row, "series": row.get("series") or row["metric"]} for row in drawing.rows(finding)]
    if len({row["asked"] for row in rows}) < (1 if finding.analysis == "drift_chain" else 2):
        return []
    columns = COLUMNS | ({"hop": "Search"} if "hop" in rows[0] else {})
    intervals, n = intervals_and_n(finding, rows)
    told = {said(row): row["headline"] for row in finding.rows if row["sentence"]}
    captions = (text for text in finding.sentences if drawing.headline in (None, told.get(text)))
    return [
        finding_figure(
            finding,
            drawing.draw(finding),
            rows,
            columns,
            chapter=CHAPTER,
            name=name,
            title=drawing.title,
            caption=next(captions, ""),
            note=f"{drawing.note} Bars and bands are {intervals}. {n}.",
        )
    ]


def wording_blocks(findings: Sequence[OldFinding]) -> list[Block]:
    """One for each finding about wording that has something to tell."""
    made = [
        make(finding) if callable(make) else _block(finding, *make)
        for name, make in BLOCKS.items()
        for finding in findings
        if finding.analysis == name
    ]
    return [block for block in made if block.tables]


def _block(finding: OldFinding, title: str, metrics: Mapping[str, str]) -> Block:
    rows = [row for row in rows_of(finding) if row["metric"] is not None and not row.get("hop")]
    metrics = metrics or {str(row["metric"]): str(row["metric"]).replace(ANSWERED, ", where not empty") for row in rows}
    tables = [
        _table("", [row for row in rows if not row["contrast"]], metrics, is_folded=False),
        _losses([row for row in rows if row["contrast"]], metrics),
    ]
    return Block(
        chapter=CHAPTER,
        name=finding.analysis,
        title=title,
        sentences=finding.sentences,
        notes=[caveat for caveat in finding.caveats if not caveat.startswith(NOT_APPLIED)],
        tables=[table for table in tables if table is not None],
    )


def _table(title: str, rows: Sequence[Row], metrics: Mapping[str, str], *, is_folded: bool) -> Table | None:
    """A line per system and way of asking, a column per metric."""
    lines: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        words = row.get("wordings") or asked(row["variation"])
        line = lines.setdefault((*_place(row), words), _line(row, words))
        line[str(row["metric"])] = row["reason"] if row["value"] is None else level(row)
        line["n"] = max(line["n"], row["n"])
        line["n_missing"] = max(line["n_missing"], row["n_missing"])
    shown = {metric: words for metric, words in metrics.items() if any(metric in line for line in lines.values())}
    columns = {"system": "System", "dataset": "Dataset", "asked": "Asked", **shown}
    columns |= {"n": "Questions", "n_missing": "Trials missing"}
    ordered = sorted(lines, key=lambda one: (str(one[:-1]), one[-1] != ORIGINAL))
    filled = [dict.fromkeys(columns) | lines[one] for one in ordered]
    return Table(title=title, columns=columns, rows=filled, is_folded=is_folded) if shown else None


def _losses(rows: Sequence[Row], metrics: Mapping[str, str]) -> Table | None:
    """A line per difference, with its p."""
    shown = [
        _line(row, asked(row["variation"]))
        | {
            "metric": metrics.get(str(row["metric"]), row["metric"]),
            "lost": level(row),
            "p": f"{row['p_holm']:.2g}" if row["p_holm"] >= 0.001 else "< 0.001",
        }
        for row in rows
        if row["value"] is not None
    ]
    columns = {"system": "System", "dataset": "Dataset", "asked": "Asked", "metric": "Number"}
    columns |= {"lost": f"{ORIGINAL.capitalize()} minus reworded", "p": "p, by Holm", "n": "Questions"}
    return Table(title="Against the original wording", columns=columns, rows=shown, is_folded=True) if shown else None


def _place(row: Row) -> tuple[Any, ...]:
    return row["system"], row["dataset"], row["temperature"]


def _line(row: Row, words: str) -> dict[str, Any]:
    at = f" · {row['temperature']:g}" if row["temperature"] else ""
    return {
        "system": f"{row['system']}{at}",
        "dataset": row["dataset"],
        "asked": words,
        "n": row["n"],
        "n_missing": row["n_missing"],
    }
