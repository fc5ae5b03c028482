"""What `compare` prints: a table and sentences for people, the same numbers for programs."""

from __future__ import annotations

import json

from rich import box
from rich.table import Table
from rich.text import Text

from shaketable.analyses.changes import Change
from shaketable.analyses.compared import Compared, Comparisons
from shaketable.cli.console import out
from shaketable.identity import canonical
from shaketable.report.comparison_words import (
    EFFORTS,
    describe_comparison,
    describe_moves,
    format_adjusted,
    format_change,
    format_effort,
    name_level,
    show,
    verdict_of,
)
from shaketable.types import Json

N_ANSWERS = 3
"""Questions that moved most, told with their answers."""


def tell_comparison(compared: Compared, told: Comparisons) -> None:
    first, second = compared.first, compared.second
    out.print(Text(f"{first.name} → {second.name}", style="bold"))
    for sentence in describe_comparison(compared, told):
        out.print(f"  {sentence}", highlight=False, markup=False)
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column(min_width=17)
    for name in (first.name, second.name):
        table.add_column(name, min_width=8, overflow="ellipsis")
    for title in ("difference", "p", ""):
        table.add_column(title, no_wrap=True)
    comparison = compared.comparison
    table.add_row("all", *_cells(comparison.overall, compared, told))
    for change in comparison.levels:
        table.add_row(name_level(change.cell), *_cells(change, compared, told))
    if comparison.worst_case:
        table.add_row("worst of a question", *_cells(comparison.worst_case, compared, told))
    table.add_section()
    for effort in compared.efforts:
        change = effort.change
        numbers = (*show(change)[:2], _in_two(format_effort(effort)))
        table.add_row(EFFORTS[effort.measured], *numbers)
    out.print(table)
    out.print(describe_moves(compared), highlight=False, markup=False)
    for move in compared.moves.questions[:N_ANSWERS]:
        out.print(
            Text(f"  {move.question}", style="bold").append(
                f"  accepted: {' / '.join(move.gold)}", style="not bold dim"
            )
        )
        for answers in move.answers[:1]:
            for contender, given in ((first, answers.first), (second, answers.second)):
                out.print(Text(f"    {contender.name}: {' '.join(given.text.split())}"))


def _in_two(text: str) -> str:
    """A difference over its interval: both beside each other leave no room for names."""
    return text.replace(" [", "\n[").replace("for every", "for\nevery")


def _cells(change: Change, compared: Compared, told: Comparisons) -> tuple[str, ...]:
    return (
        *show(change)[:2],
        _in_two(format_change(change)),
        format_adjusted(change, compared, told),
        verdict_of(change, compared, told),
    )


def comparison_values(told: Comparisons) -> dict[str, Json]:
    """Every number in full, with what is said of it."""
    return {"confidence": told.confidence, "comparisons": [_values(compared, told) for compared in told.compared]}


def _values(compared: Compared, told: Comparisons) -> dict[str, Json]:
    values: dict[str, Json] = json.loads(canonical(compared))
    claims: dict[str, Json] = {
        change_kind(change): {
            "p_adjusted": claim.p_adjusted,
            "is_shown": claim.is_shown,
            "reason": claim.reason,
            "detectable": claim.detectable,
            "n_needed": claim.n_needed,
            "n_least": claim.n_least,
        }
        for change in compared.comparison.spoken_of
        if (claim := told.claim(compared, change))
    }
    return {
        **values,
        "claims": claims,
        "is_equivalent": told.is_equivalent(compared),
        "sentences": [*describe_comparison(compared, told), describe_moves(compared)],
    }


def change_kind(change: Change) -> str:
    """`overall`, `worst case`, or the level."""
    return name_level(change.cell) if change.kind == "level" else change.kind
