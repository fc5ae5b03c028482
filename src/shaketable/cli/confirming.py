"""Guessed columns → shown with an example and the reason, and confirmed by a person, if there is one."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer
from rich.table import Table
from rich.text import Text

from shaketable.cli.console import err, say
from shaketable.datasets.reading.guess import ROLES, Guess
from shaketable.errors import DataError
from shaketable.stages.starting.table import NONE, Opened, choose_columns

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


def confirm_columns(opened: Opened, chosen: Sequence[Guess], *, is_asked: bool) -> tuple[Guess, ...]:
    """The columns that are used; without a person those that were guessed."""
    show_columns(opened, chosen)
    if not is_asked:
        say("Nobody was asked: these columns are taken. Others are named by --question, --answer, --context, --id.")
        return tuple(chosen)
    while not typer.confirm("Are these the columns?", default=True, err=True):
        say(f"Columns: {', '.join(opened.columns)}. Enter keeps what stands there, {NONE} is none.")
        given = {role: _ask(role, chosen) for role in ROLES}
        try:
            chosen = choose_columns(opened, given)
        except DataError as error:
            say(f"{error}")
        show_columns(opened, chosen)
    return tuple(chosen)


def show_columns(opened: Opened, chosen: Sequence[Guess]) -> None:
    """What each column of the table is taken for, with an example."""
    say(f"{opened.name}: {len(opened.rows):,} rows, {len(opened.columns)} columns.")
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


def _ask(role: str, chosen: Sequence[Guess]) -> str:
    now = next((guess.column for guess in chosen if guess.role == role), NONE)
    return str(typer.prompt(f"  {role}", default=now, err=True)).strip()
