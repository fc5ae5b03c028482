"""What the analyses of evidence and temperature found, as blocks of a chapter: sentences, matrices, tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from shaketable.report.content import NOT_APPLIED, rows_of
from shaketable.report.old_words import measured, named
from shaketable.report.words import format_margin
from shaketable.types import OldFinding

Row = Mapping[str, Any]


class Cell(NamedTuple):
    kind: str
    """How it looks: `good`, `bad`, `even` or `quiet`; words and marks say the same."""
    mark: str
    lines: tuple[str, ...] = ()


NOTHING = Cell("quiet", "–")


@dataclass(frozen=True, kw_only=True)
class Matrix:
    title: str
    """Empty: the block's title is enough."""
    columns: Sequence[str]
    groups: Sequence[tuple[str, Sequence[tuple[str, Sequence[Cell]]]]]
    """Systems, each with its disturbances and their cells."""
    is_folded: bool = False


@dataclass(frozen=True, kw_only=True)
class Table:
    title: str
    columns: Mapping[str, str]
    rows: Sequence[Row]
    is_folded: bool = False


@dataclass(frozen=True, kw_only=True)
class Block:
    chapter: str
    name: str
    title: str
    sentences: Sequence[str]
    notes: Sequence[str]
    """How to read it."""
    matrices: Sequence[Matrix] = ()
    tables: Sequence[Table] = ()


def make_blocks(findings: Sequence[OldFinding]) -> list[Block]:
    """One for each finding that has something to show, in the order of the chapters."""
    made = [make(finding) for name, make in MAKERS.items() for finding in findings if finding.analysis == name]
    seen: set[str] = set()
    blocks = []
    for block in made:
        if block.name not in seen and (block.sentences or block.matrices or block.tables):
            seen.add(block.name)
            blocks.append(block)
    return blocks


# --- dice -----------------------------------------------------------------------------------------


# --- evidence -------------------------------------------------------------------------------------


def _equivalence(finding: OldFinding) -> Block:
    looks = {
        "equivalent": ("good", "≈ equivalent"),
        "different": ("bad", "≠ different"),
        "undecided": ("quiet", "? undecided"),
    }

    def cell(row: Row) -> Cell:
        if row["verdict"] is None:
            return _none(row)
        return Cell(*looks[row["verdict"]], _short(row))

    margins = sorted({(row["delta"], row["unit"]) for row in rows_of(finding) if row["delta"] is not None})
    within = ", ".join(format_margin(*margin) for margin in margins)
    return _block(
        finding,
        "evidence",
        "Where is disturbed evidence as good as the original?",
        note=f"Cells hold original minus disturbed with its interval; the margin is {within}.",
        matrices=_matrices(rows_of(finding), cell),
    )


MAKERS: dict[str, Callable[[OldFinding], Block]] = {
    "equivalence": _equivalence,
}


# --- what blocks are made of ----------------------------------------------------------------------


def _block(
    finding: OldFinding,
    chapter: str,
    title: str,
    *,
    note: str = "",
    sentences: Sequence[str] | None = None,
    matrices: Sequence[Matrix] = (),
    tables: Sequence[Table] = (),
) -> Block:
    """How to read it comes before its caveats; models without temperature have a banner of their own."""
    caveats = [caveat for caveat in finding.caveats if not caveat.startswith(NOT_APPLIED)]
    return Block(
        chapter=chapter,
        name=finding.analysis,
        title=title,
        sentences=finding.sentences if sentences is None else sentences,
        notes=[note, *caveats] if note else caveats,
        matrices=matrices,
        tables=tables,
    )


def _matrices(
    rows: Iterable[Row],
    cell: Callable[[Row], Cell],
    *,
    last: tuple[str, Callable[[Sequence[Row]], Cell]] | None = None,
) -> list[Matrix]:
    """Disturbance × temperature, of all questions and, folded, by type."""
    pooled = [row for row in rows if row["type"] is None]
    typed = [row for row in rows if row["type"] is not None]
    made = [_matrix(pooled, cell, last, "", is_folded=False)] if pooled else []
    return made + ([_matrix(typed, cell, last, "By type of question", is_folded=True)] if typed else [])


def _matrix(
    rows: Sequence[Row],
    cell: Callable[[Row], Cell],
    last: tuple[str, Callable[[Sequence[Row]], Cell]] | None,
    title: str,
    *,
    is_folded: bool,
) -> Matrix:
    temperatures = sorted({row["temperature"] for row in rows})
    lines: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        lines.setdefault(f"{_place(row)}, {measured(row['metric'])}", {}).setdefault(row["perturbation"], []).append(
            row
        )

    def cells(line: Sequence[Row]) -> list[Cell]:
        at = {row["temperature"]: row for row in line}
        made = [cell(at[temperature]) if temperature in at else NOTHING for temperature in temperatures]
        return made + ([last[1](line)] if last else [])

    return Matrix(
        title=title,
        columns=[*(f"{temperature:g}" for temperature in temperatures), *([last[0]] if last else [])],
        groups=[
            (place, [(named(perturbation), cells(line)) for perturbation, line in of_place.items()])
            for place, of_place in lines.items()
        ],
        is_folded=is_folded,
    )


def _line(row: Row, **cells: Any) -> dict[str, Any]:
    """A line of a table: the place, what is shown of it, and the number of questions."""
    return {"system": _place(row), "metric": row["metric"], **cells, "n": row["n"]}


def _table(title: str, rows: Sequence[Row], *, is_folded: bool = False, **columns: str) -> list[Table]:
    """None without rows. A metric that all rows share stands in the title, not in each row."""
    metrics = {row["metric"] for row in rows}
    if not metrics:
        return []
    named_columns = {"system": "System", "metric": "Metric", **columns, "n": "Questions"}
    if len(metrics) == 1:
        title = f"{title}: {measured(metrics.pop())}"
        del named_columns["metric"]
    return [Table(title=title, columns=named_columns, rows=rows, is_folded=is_folded)]


def _grouped(rows: Iterable[Row], *more: str) -> list[list[Row]]:
    """The rows of one place and disturbance together, in their order."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault((*_line_key(row), *(row[name] for name in more)), []).append(row)
    return list(groups.values())


def _evidence(row: Row) -> str:
    return named(row["perturbation"] or "no evidence")


def _line_key(row: Row) -> tuple[Any, ...]:
    return row["metric"], row["system"], row["type"], row["perturbation"]


def _place(row: Row) -> str:
    """`smollm2 · bridge`."""
    return f"{row['system']} · {row['type']}" if row["type"] else str(row["system"])


def _none(row: Row) -> Cell:
    return Cell("quiet", "–", (row["reason"],) if row["reason"] else ())


def _short(row: Row) -> tuple[str, ...]:
    """A difference and its interval with a fixed number of decimals, so that cells stay narrow and line up."""
    is_share = row["unit"] == "share"
    places = {"share": 0, "ratio": 2}.get(row["unit"], 3)

    def text(value: float) -> str:
        # Adding 0 turns a rounded −0.000 into 0.000.
        return f"{round(100 * value if is_share else value, places) + 0:.{places}f}".replace("-", "−")

    first = text(row["value"]) + (" points" if is_share else "")
    return (first,) if row["low"] is None else (first, f"[{text(row['low'])}, {text(row['high'])}]")


def _p(p: float | None) -> str:
    if p is None:
        return "–"
    return f"p = {p:.2g}" if p >= 0.001 else "p < 0.001"
