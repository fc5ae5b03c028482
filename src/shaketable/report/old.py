"""Results that are still rows with sentences → sections. This goes when every analysis has a result of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from shaketable.analyses.evidence.correctness import Correctness
from shaketable.factors import Cell, System
from shaketable.report.old_blocks import Block, make_blocks
from shaketable.report.old_blocks import Table as OldTable
from shaketable.report.old_words import bounds, difference, holds_zero, level, said
from shaketable.report.section import Headline, Matrix, MatrixCell, Page, Section, Table
from shaketable.report.sections.correctness import make_headlines
from shaketable.report.words import format_entry
from shaketable.types import Estimate, OldFinding

Row = Mapping[str, Any]
UNCLEAR = ("undecided", "no change shown", "no clear winner", "not shown")
LEVELS = ("level", "variability")
LINKS = {
    "ceiling": "guidelines",
    "onset": "guidelines",
    "choice": "guidelines",
}


def findings_of(page: Page) -> list[OldFinding]:
    return [
        finding.result
        for finding in page.findings.findings
        if isinstance(finding.result, OldFinding) and not finding.is_as_asked
    ]


def with_correctness(page: Page) -> list[OldFinding]:
    """Those, and rows of correctness for pictures that are still drawn from rows."""
    result = page.result(Correctness)
    return [*([] if result is None else [_old_correctness(result, page)]), *findings_of(page)]


def _old_correctness(result: Correctness, page: Page) -> OldFinding:
    sentences = {(headline.kind, headline.cell): headline for headline in make_headlines(result, page)}

    def row(kind: str, cell: Cell, metric: str, estimate: Estimate, contrast: str | None, **more: Any) -> Row:
        headline = sentences.get((kind, cell)) if metric == result.metric and not more.get("is_as_asked") else None
        system = cell.system or System(model="")
        parts = {"dataset": cell.dataset, "method": system.method, "retriever": system.retriever}
        parts |= {"variation": cell.variation}
        perturbation = cell.perturbation
        return {
            "system": _old_name(cell, page),
            "metric": metric,
            "model": system.model,
            **parts,
            "perturbation": f"{perturbation}, as asked" if more.pop("is_as_asked", False) else perturbation,
            "temperature": cell.temperature,
            "type": cell.group,
            **dataclasses.asdict(estimate),
            "contrast": contrast,
            "headline": headline and kind,
            "sentence": headline and headline.sentence,
            "detail": headline and headline.detail,
            **more,
        }

    levels = [
        row("level", one.cell, one.metric, one.mean, None, sd_runs=one.sd_runs, n_missing=one.n_missing)
        for one in result.levels
    ]
    drops = [
        row(
            *("evidence", one.cell, one.metric, one.drop, f"unchanged - {one.cell.perturbation}"),
            n_missing=one.n_missing,
            is_as_asked=one.is_as_asked,
        )
        for one in result.evidence_drops
    ]
    heat = [
        row("heat", one.cell, one.metric, one.drop, "temperature", n_missing=one.n_missing) for one in result.heat_drops
    ]
    return OldFinding(
        analysis="correctness",
        question="",
        rows=(*levels, *drops, *heat),
        sentences=tuple(headline.text for headline in sentences.values()),
        settings={"main_metric": result.metric, "confidence": page.bootstrap.confidence},
    )


def _old_name(cell: Cell, page: Page) -> str:
    system = cell.system or System(model="")
    parts = {"dataset": cell.dataset, "method": system.method, "retriever": system.retriever}
    parts |= {"variation": cell.variation}
    return " · ".join(
        [system.model, *(value for name, value in parts.items() if value and name in page.labels.differing)]
    )


def sections_of(page: Page) -> list[Section]:
    return [_section(finding, (), page) for finding in findings_of(page)]


def draw(page: Page) -> list[Section]:
    findings = findings_of(page)
    blocks = make_blocks(findings)
    return [_section(finding, blocks, page) for finding in findings]


def _section(finding: OldFinding, blocks: Sequence[Block], page: Page) -> Section:
    block = next((block for block in blocks if block.name == finding.analysis), None)
    rows = {said(row): row for row in finding.rows if row.get("headline")}
    headlines = tuple(_headline(text, rows.get(text), page) for text in finding.sentences)
    empty = Section(
        chapter="evidence", name=finding.analysis, title="", question=finding.question, headlines=headlines, shown=()
    )
    empty = replace(empty, caveats=finding.caveats)
    if block is None:
        return empty
    return replace(
        empty,
        chapter=block.chapter,  # type: ignore[arg-type]
        title=block.title,
        shown=tuple(headline for headline in headlines if headline.text in block.sentences),
        matrices=tuple(
            Matrix(
                title=matrix.title,
                columns=tuple(matrix.columns),
                groups=tuple(
                    (
                        name,
                        tuple(
                            (
                                line,
                                tuple(
                                    MatrixCell(look=cell.kind, mark=cell.mark, lines=cell.lines)  # type: ignore[arg-type]
                                    for cell in cells
                                ),
                            )
                            for line, cells in lines
                        ),
                    )
                    for name, lines in matrix.groups
                ),
                is_folded=matrix.is_folded,
            )
            for matrix in block.matrices
        ),
        tables=tuple(_table(table) for table in block.tables),
        notes=tuple(note for note in block.notes if note not in finding.caveats),
    )


def _headline(text: str, row: Row | None, page: Page) -> Headline:
    if row is None:
        return Headline(kind="", cell=Cell(), system="", sentence=text)
    value, interval = _number(row)
    kind = str(row["headline"])
    links = [LINKS[kind]] if kind in LINKS else []
    return Headline(
        kind=kind,
        cell=Cell(temperature=row.get("temperature"), perturbation=row.get("perturbation")),
        system=str(row["system"]),
        sentence=str(row["sentence"]),
        detail=str(row["detail"] or ""),
        number=value,
        interval=interval,
        is_clear=not _is_unclear(row),
        links=tuple(links),
    )


def _is_unclear(row: Row) -> bool:
    if row.get("contrast"):
        return holds_zero(row)
    return row.get("verdict") in UNCLEAR


def _number(row: Row) -> tuple[str, str]:
    interval = bounds(row).strip()
    if row["unit"] == "temperature":
        ends = "" if row["low"] is None else f"[{row['low']:g}, {row['high']:g}]"
        if row["value"] is None:
            return "no ceiling", ""
        return (f"≤ {row['value']:g}" if row["headline"] == "ceiling" else f"{row['value']:g}"), ends
    if row["value"] is None:
        return "", ""
    if row["headline"] in LEVELS:
        return level(row).removesuffix(bounds(row)), interval
    return difference(row).removesuffix(bounds(row)), interval


def _table(table: OldTable) -> Table:
    return Table(
        title=table.title,
        columns=tuple(table.columns.values()),
        rows=tuple(tuple(_entry(row, name) for name in table.columns) for row in table.rows),
        is_folded=table.is_folded,
    )


def _entry(row: Row, name: str) -> Any:
    unit: Any = row.get("unit") if name in ("value", "low", "high", "lowest", "q1", "median", "q3", "highest") else None
    value = row.get(name)
    return format_entry(value, unit) if isinstance(value, float) else value
