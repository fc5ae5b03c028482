"""A file, a folder or a name on the data hub → how a study names it, and its columns as they seem to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shaketable.datasets.reading.cells import value_of
from shaketable.datasets.reading.guess import ROLES, Guess, guess_columns
from shaketable.datasets.reading.hub import Chosen, folder_files, hub_files, is_hub_name
from shaketable.datasets.reading.json_layout import JsonFields, question_of_object
from shaketable.datasets.reading.rows import Row, scan_rows
from shaketable.datasets.reading.table_layout import TAKEN
from shaketable.errors import DataError, ShaketableError, at_home, did_you_mean
from shaketable.types import Json, Rejected

NONE = "-"
"""What stands for no column where one may be named."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Opened:
    """A table that was looked into."""

    source: Mapping[str, Json]
    """`path`, or `hub` with its configuration and split, as the table [dataset] names them."""
    name: str
    rows: tuple[Mapping[str, Any], ...]
    columns: tuple[str, ...]
    guesses: tuple[Guess, ...]
    is_our_layout: bool
    """Whether it is JSON lines with the keys that `jsonl` reads: then no column need be named."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What looks wrong with the table itself."""
        asking = next((column for column in self.columns if column.rstrip().endswith("?") and " " in column), None)
        if asking is None:
            return ()
        return (
            f"{self.name}: a column is named '{asking}', which looks like a question. If the first line names no "
            "columns, it is not asked: put a line such as question,answer above it.",
        )

    def example(self, column: str) -> Any:
        """The first value that is not empty; None: all are."""
        values = (value_of(row, column) for row in self.rows)
        return next((value for value in values if value not in (None, "", [], {})), None)


def open_table(data: str, configuration: str | None = None, split: str | None = None) -> Opened:
    """Raises DataError where there is nothing that can be read as rows with named columns."""
    files, source = _files(data, configuration, split)
    found = [row for file in files for row in scan_rows(file, header=True)]
    rows = tuple(row.value for row in found if isinstance(row, Row) and isinstance(row.value, Mapping))
    name = data if "hub" in source else files[0].name
    if not rows:
        broken = next((f" First, {row.where}: {row.reason}" for row in found if isinstance(row, Rejected)), "")
        raise DataError(
            f"{name}: found no rows with named columns.{broken} Give a CSV whose first line names the columns, JSON "
            "lines with an object in each, or a Parquet file."
        )
    columns = tuple(dict.fromkeys(str(column) for row in rows for column in row if str(column).strip()))
    ours = [row for row in found if isinstance(row, Row) and not row.has_cells]
    return Opened(
        source=source,
        name=name,
        rows=rows,
        columns=columns,
        guesses=guess_columns(rows),
        is_our_layout=len(ours) == len(found) and _is_ours(ours),
    )


def choose_columns(opened: Opened, given: Mapping[str, str | None]) -> tuple[Guess, ...]:
    """The guesses with those columns in their place that a person names; `-` stands for none."""
    chosen = {guess.role: guess for guess in opened.guesses if guess.role in ROLES}
    for role, column in given.items():
        if column is None:
            continue
        if column == NONE and role != "question":
            chosen.pop(role, None)
            continue
        if problem := trouble_with(opened, role, column):
            raise DataError(problem)
        chosen = {role_: guess for role_, guess in chosen.items() if guess.column != column}
        chosen[role] = Guess(role=role, column=column, reason="as you say")
    if "question" not in chosen:
        raise DataError(
            f"{opened.name}: no column looks like questions. Name it: --question COLUMN. Columns: "
            f"{', '.join(opened.columns)}."
        )
    used = {guess.column for guess in chosen.values()}
    tags = [
        guess
        for guess in opened.guesses
        if guess.role not in ROLES and guess.column not in used and guess.column not in TAKEN
    ]
    return (*(chosen[role] for role in ROLES if role in chosen), *tags)


def trouble_with(opened: Opened, role: str, column: str) -> str | None:
    """Why a column cannot be what a person names it for; None: it can."""
    if column == NONE:
        return "A study needs questions: name their column." if role == "question" else None
    if column in opened.columns or column.partition(".")[0] in opened.columns:
        return None
    hint = did_you_mean(column, opened.columns)
    return f"{opened.name} has no column '{column}'.{hint} Columns: {', '.join(opened.columns)}."


def doubt_about(chosen: Sequence[Guess]) -> Guess | None:
    """The column of answers, where nothing but its content speaks for it: all scores hang on it."""
    return next((guess for guess in chosen if guess.role == "answer" and guess.is_by_content), None)


def dataset_table(opened: Opened, chosen: Sequence[Guess]) -> dict[str, Json]:
    """The table [dataset] of a study, without a limit."""
    if opened.is_our_layout and all(guess.reason != "as you say" for guess in chosen):
        return {"name": "jsonl", **opened.source}
    table: dict[str, Json] = {"name": "table", **opened.source}
    table["columns"] = {guess.role: guess.column for guess in chosen if guess.role != "tag"}
    tags: list[Json] = [guess.column for guess in chosen if guess.role == "tag"]
    return table | {"tags": tags} if tags else table


def _files(data: str, configuration: str | None, split: str | None) -> tuple[list[Path], dict[str, Json]]:
    path = at_home(data)
    if path.is_file():
        return [path], {"path": data}
    chosen: Chosen | None = None
    if path.is_dir():
        files, chosen = folder_files(path, configuration, split)
        source: dict[str, Json] = {"path": data}
    elif is_hub_name(data) and not path.suffix:
        files, chosen = hub_files(data, configuration, split)
        source = {"hub": data}
    else:
        raise DataError(
            f"There is no file {data}. Give a CSV, JSON lines or Parquet file, or the name of a dataset on the data "
            "hub as owner/name."
        )
    if chosen.configuration is not None:
        source["configuration"] = chosen.configuration
    if chosen.split is not None:
        source["split"] = chosen.split
    return files, source


def _is_ours(rows: Sequence[Row]) -> bool:
    if not all(isinstance(row.value, dict) and set(row.value) <= JsonFields.model_fields.keys() for row in rows):
        return False
    try:
        return bool([question_of_object(row) for row in rows])
    except ShaketableError:
        return False
