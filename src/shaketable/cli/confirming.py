"""Guessed columns → shown with an example and the reason, and confirmed by a person, if there is one."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence

import typer
from rich.table import Table
from rich.text import Text

from shaketable.cli.console import err, say
from shaketable.datasets.reading.guess import ROLES, Guess
from shaketable.errors import DataError
from shaketable.report.words import count
from shaketable.stages.starting.table import NONE, Opened, choose_columns, doubt_about, trouble_with

LONGEST = 60
"""Characters of an example."""
MISSING = {
    "question": "needed",
    "answer": "none: agreement with the model's own plain answers is measured",
    "context": "none: asked without evidence",
    "id": "none: made from the question's text",
}


def is_somebody_there() -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty() and err.is_terminal


def confirm_columns(opened: Opened, chosen: Sequence[Guess], *, is_asked: bool, why: str) -> tuple[Guess, ...]:
    """The columns that are used; without a person those that were guessed, and `why` nobody was asked."""
    show_columns(opened, chosen)
    if not is_asked:
        say(f"Not confirmed ({why}). To choose others: --question, --answer, --context, --id COLUMN; {NONE} is none.")
        return tuple(chosen)
    while not typer.confirm("Are these the columns?", default=True, err=True):
        say(f"Columns: {', '.join(opened.columns)}. Enter keeps what stands there, {NONE} is none.")
        given = {role: _ask(opened, role, chosen) for role in ROLES}
        try:
            chosen = choose_columns(opened, given)
        except DataError as error:  # One column was named twice.
            say(f"{error}")
        show_columns(opened, chosen)
    return tuple(chosen)


def refuse_doubt(opened: Opened, chosen: Sequence[Guess]) -> None:
    """Nobody can confirm the columns: answers that nothing but their content speaks for are not taken."""
    doubt = doubt_about(chosen)
    if doubt is None:
        return
    raise DataError(
        f"{opened.name}: no column is named like answers. '{doubt.column}' may hold them ({doubt.reason}; the first is "
        f"'{example_of(opened, doubt)}'), and nobody is here to confirm it. Name the column: --answer "
        f"{shlex.quote(doubt.column)}, or --answer {NONE} for none; --yes takes what was guessed."
    )


def show_columns(opened: Opened, chosen: Sequence[Guess]) -> None:
    """What each column of the table is taken for, with an example."""
    say(f"{opened.name}: {count(len(opened.rows), 'row')}, {count(len(opened.columns), 'column')}.")
    for remark in opened.remarks:
        say(remark)
    table = Table("what", "column", "example", "why", box=None, pad_edge=False)
    by_role = {guess.role: guess for guess in chosen if guess.role != "tag"}
    for role in ROLES:
        guess = by_role.get(role)
        if guess is None:
            table.add_row(role, Text(NONE), "", Text(MISSING[role]))
        else:
            table.add_row(role, Text(guess.column, style="bold"), Text(example_of(opened, guess)), Text(guess.reason))
    for guess in chosen:
        if guess.role == "tag":
            table.add_row("tag", Text(guess.column, style="bold"), Text(example_of(opened, guess)), Text(guess.reason))
    used = {guess.column.partition(".")[0] for guess in chosen} | {guess.column for guess in chosen}
    if left := [column for column in opened.columns if column not in used]:
        table.add_row("not read", Text(", ".join(left)), "", "")
    err.print(table)


def example_of(opened: Opened, guess: Guess) -> str:
    text = " ".join(str(opened.example(guess.column)).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _ask(opened: Opened, role: str, chosen: Sequence[Guess]) -> str:
    """A column there is, asked for until one is named."""
    now = next((guess.column for guess in chosen if guess.role == role), NONE)
    while True:
        column = str(typer.prompt(f"  {role}", default=now, err=True)).strip()
        if problem := trouble_with(opened, role, column):
            say(problem)
        else:
            return column
