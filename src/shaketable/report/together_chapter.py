"""The chapter on everything shaken at once: what explains the variation, the surface, and reliance on evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import altair as alt

from shaketable.analyses.together.reliance_words import SIDES, told_mean
from shaketable.report.charts.correctness_surface import correctness_surface, surface_rows
from shaketable.report.charts.reliance_by_temperature import reliance_by_temperature, reliance_rows
from shaketable.report.charts.variance_bar import WORDS, share_rows, variance_bar
from shaketable.report.content import NOT_APPLIED, rows_of
from shaketable.report.old_blocks import Block, Table
from shaketable.report.old_figures import Figure, finding_figure, intervals_and_n
from shaketable.report.old_words import level, measured, named
from shaketable.types import OldFinding

Row = Mapping[str, Any]
CHAPTER = "together"
ESTIMATE = {"value": "Value", "low": "Low", "high": "High", "n": "Questions"}


# --- figures --------------------------------------------------------------------------------------


def together_figures(findings: Sequence[OldFinding]) -> list[Figure]:
    """What can be drawn of the findings at hand, in the order of the chapter."""
    of = {finding.analysis: finding for finding in findings}
    drawn: list[Figure] = []
    if shares := of.get("variance_shares"):
        drawn += _figure(
            "variance_bar",
            "What explains the variation?",
            "Shares of the variance of single answers. Settings are in colour; grey is what no setting explains: which "
            "question is asked, settings that act otherwise on one question than on another, and dice at one setting. "
            "An estimate below 0 has no place in the bar.",
            share_rows(shares),
            {"dataset": "Dataset", "component": "Explained by"} | ESTIMATE,
            lambda: variance_bar(shares),
            shares,
        )
    if correct := of.get("correctness"):
        drawn += _surface(correct)
    if reliance := of.get("context_reliance"):
        drawn += _figure(
            "reliance_by_temperature",
            "Does it lean on its evidence?",
            "What a disturbance takes, as a multiple of what evidence brings over closed book: at 0 it is ignored, at "
            "1 the system answers as without evidence, above 1 it is misled. Temperatures at which evidence brings "
            "less than 5 points are not drawn.",
            reliance_rows(reliance),
            {"system": "System", "evidence": "Evidence", "temperature": "Temperature"} | ESTIMATE,
            lambda: reliance_by_temperature(reliance),
            reliance,
        )
    return drawn


def _surface(finding: OldFinding) -> list[Figure]:
    """Of the main metric, where wordings and temperatures are crossed; with one of either, other chapters show all."""
    metric = str(finding.settings.get("main_metric"))
    rows = surface_rows(finding, metric)
    if min(len({row[name] for row in rows}) for name in ("asked", "temperature")) < 2:
        return []
    return _figure(
        "correctness_surface",
        f"The surface: {measured(metric)} by wording, evidence and temperature",
        "Each box is the mean over questions in one setting.",
        rows,
        {"panel": "System", "asked": "Asked", "evidence": "Evidence", "temperature": "Temperature"} | ESTIMATE,
        lambda: correctness_surface(finding, metric),
        finding,
        caption=_extremes(rows),
    )


def _extremes(rows: Sequence[Row]) -> str:
    best, worst = (pick(rows, key=lambda row: row["value"]) for pick in (max, min))

    several = len({row["panel"] for row in rows}) > 1

    def place(row: Row) -> str:
        system = f"{row['panel']}, " if several else ""
        return f"{system}{row['asked']} wording, {row['evidence']}, temperature {row['temperature']:g}"

    return f"It runs from {level(best)} ({place(best)}) down to {level(worst)} ({place(worst)})."


def _figure(
    name: str,
    title: str,
    note: str,
    rows: Sequence[Row],
    columns: Mapping[str, str],
    draw: Callable[[], alt.TopLevelMixin],
    finding: OldFinding,
    *,
    caption: str = "",
) -> list[Figure]:
    """None without rows."""
    if not rows:
        return []
    intervals, n = intervals_and_n(finding, rows)
    return [
        finding_figure(
            finding,
            draw(),
            rows,
            columns,
            chapter=CHAPTER,
            name=name,
            title=title,
            caption=caption,
            note=f"{note} Intervals are {intervals} over questions. {n}.",
        )
    ]


# --- blocks ---------------------------------------------------------------------------------------


def together_blocks(findings: Sequence[OldFinding]) -> list[Block]:
    """One for each finding of the chapter that has an estimate."""
    makers = {"variance_shares": _shares, "context_reliance": _reliance}
    return [
        make(finding)
        for name, make in makers.items()
        for finding in findings
        if finding.analysis == name and any(row["value"] is not None for row in finding.rows)
    ]


def _shares(finding: OldFinding) -> Block:
    columns = {"dataset": "Dataset", "effect": "Explained by", "share": "Share", "n": "Questions"}
    columns |= {"n_left_out": "Questions left out", "n_missing": "Records missing"}

    def lines(rows: Sequence[Row]) -> list[Row]:
        return [
            {name: row.get(name) for name in columns}
            | {"effect": WORDS.get(row["effect"], row["effect"]), "share": _level(row)}
            for row in rows
            if row["effect"]
        ]

    whole, parts = (lines([row for row in rows_of(finding) if bool(row["part_of"]) == part]) for part in (False, True))
    pieces = Table(title="Interactions and differences by question, piece by piece", columns=columns, rows=parts)
    return _block(finding, "Shares of the variation", Table(title="", columns=columns, rows=whole), pieces)


def _reliance(finding: OldFinding) -> Block:
    columns = {
        "system": "System",
        "evidence": "Evidence",
        "temperature": "Temperature",
        "reliance": "Reliance",
        "original": "Original",
        "disturbed": "Disturbed",
        "closed_book": "Closed book",
        "n": "Questions",
        "n_missing": "Records missing",
    }
    rows = [
        {name: row.get(name) for name in columns}
        | {"evidence": named(row["perturbation"]), "temperature": f"{row['temperature']:g}", "reliance": _level(row)}
        | {side: None if row[side] is None else told_mean(row, side) for side in SIDES}
        for row in rows_of(finding)
    ]
    return _block(finding, "Reliance on evidence", Table(title="", columns=columns, rows=rows))


def _level(row: Row) -> str:
    return str(row["reason"]) if row["value"] is None else level(row)


def _block(finding: OldFinding, title: str, first: Table, *folded: Table) -> Block:
    others = [Table(title=one.title, columns=one.columns, rows=one.rows, is_folded=True) for one in folded if one.rows]
    return Block(
        chapter=CHAPTER,
        name=finding.analysis,
        title=title,
        sentences=finding.sentences,
        notes=[caveat for caveat in finding.caveats if not caveat.startswith(NOT_APPLIED)],
        tables=[first, *others],
    )
