"""Tables of systems: what is shown of each, and the number of questions behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shaketable.factors import Cell, word_for
from shaketable.report.section import Page, Table
from shaketable.report.words import Entry


@dataclass(frozen=True, kw_only=True, slots=True)
class TableLine:
    cell: Cell
    metric: str
    entries: tuple[Entry, ...]
    """One for each column of the table's own."""
    n: int
    """Questions."""


def make_tables(
    title: str, columns: Sequence[str], lines: Sequence[TableLine], page: Page, *, is_folded: bool = False
) -> tuple[Table, ...]:
    """None without lines. A metric that all lines share stands in the title, not in each line."""
    if not lines:
        return ()
    metrics = {line.metric for line in lines}
    has_metric = len(metrics) > 1
    return (
        Table(
            title=title if has_metric else f"{title}: {word_for(metrics.pop())}",
            columns=("System", *(["Metric"] if has_metric else []), *columns, "Questions"),
            rows=tuple(
                (
                    name_place(line.cell, page),
                    *([line.metric] if has_metric else []),
                    *line.entries,
                    line.n,
                )
                for line in lines
            ),
            is_folded=is_folded,
        ),
    )


def name_place(cell: Cell, page: Page) -> str:
    """`smollm2 · bridge`: a system, and the type of question where there is one."""
    system = page.name(cell)
    return f"{system} · {cell.group}" if cell.group else system
