"""Somebody's table (CSV, JSON lines, Parquet, a dataset of the hub) → questions, its columns named in the study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from shaketable.datasets.reading.cells import answers_of, passages_of, plain_text, tag_of, value_of
from shaketable.datasets.reading.gather import gather, id_from
from shaketable.datasets.reading.guess import TYPE
from shaketable.datasets.reading.hub import folder_files, hub_files
from shaketable.datasets.reading.rows import Row, RowError, every_sentence, make_question, scan_rows
from shaketable.datasets.reading.table_layout import KNOWN, TAKEN, name_columns
from shaketable.errors import DataError, at_home, did_you_mean
from shaketable.types import Loaded, Question, Rejected

ADVICE = "`shaketable init --data FILE` finds the columns of a table and writes a study; see shaketable docs data."


def load_table(
    path: str | None = None,
    *,
    hub: str | None = None,
    configuration: str | None = None,
    split: str | None = None,
    columns: Mapping[str, str] | None = None,
    tags: Sequence[str] = (),
) -> Loaded:
    """Questions of a table with any columns, as a CSV, JSON lines or Parquet file, or from a `hub` dataset.

    `columns`: question, answer, context, id or type → the table's column; one inside an object is `answers.text`.
    Without them the names of `csv` are understood. Reports group by `type`; `tags` are more columns to select and
    filter by. `path` may be a folder; `configuration` and
    `split` then choose among its files, as on the hub. A row without a question or an answer is left out and listed.
    """
    files = _files(path, hub, configuration, split)
    rows = [row for file in files for row in scan_rows(file, header=True)]
    name = hub if path is None and hub else files[0].name
    known = _known_columns(rows, name)
    chosen = dict(name_columns(known) if columns is None else columns)
    _check(chosen, tags, known, name)
    return gather(
        rows,
        lambda row: _question(row, chosen, tags),
        name=name,
        advice=ADVICE,
        has_answers="answer" in chosen,
    )


def _files(path: str | None, hub: str | None, configuration: str | None, split: str | None) -> list[Path]:
    if path is None and hub is None:
        raise DataError(f"Dataset 'table' needs a path: path = 'questions.parquet', or hub = 'owner/name'. {ADVICE}")
    if path is None:
        return hub_files(hub or "", configuration, split)[0]
    file = at_home(path)
    return folder_files(file, configuration, split)[0] if file.is_dir() else [file]


def _known_columns(rows: Sequence[Row | Rejected], name: str) -> list[str]:
    """Of all rows: those of JSON lines need not have the same."""
    objects = [row.value for row in rows if isinstance(row, Row) and isinstance(row.value, Mapping)]
    if not objects:
        first = next((f" First, {row.where}: {row.reason}" for row in rows if isinstance(row, Rejected)), "")
        raise DataError(f"{name}: found no rows with named columns.{first} {ADVICE}")
    return list(dict.fromkeys(str(column) for row in objects for column in row if str(column)))


def _check(columns: Mapping[str, str], tags: Sequence[str], known: Sequence[str], name: str) -> None:
    keys = (*KNOWN, TYPE)
    if unknown := next((key for key in columns if key not in keys), None):
        hint = did_you_mean(unknown, keys)
        raise DataError(f"dataset.columns: unknown key '{unknown}'.{hint} Known keys: {', '.join(keys)}.")
    if "question" not in columns:
        raise DataError(
            f"{name}: no column is named 'question'. Say which it is: columns = {{ question = '…', answer = '…' }}. "
            f"Found: {', '.join(known)}. {ADVICE}"
        )
    for key, column in [*columns.items(), *(("tags", tag) for tag in tags)]:
        if column not in known and column.partition(".")[0] not in known:
            place = "dataset.tags" if key == "tags" else f"dataset.columns.{key}"
            hint = did_you_mean(column, known)
            raise DataError(f"{place}: {name} has no column '{column}'.{hint} Columns: {', '.join(known)}.")
    if taken := next((tag for tag in tags if tag in TAKEN), None):
        raise DataError(f"dataset.tags: '{taken}' means something else here. Leave it out, or rename the column.")


def _question(row: Row, columns: Mapping[str, str], tags: Sequence[str]) -> Question:
    if not isinstance(row.value, Mapping):
        raise RowError("this is no object with named values.")
    cells = {key: value_of(row.value, column) for key, column in columns.items()}
    text = cells["question"]
    if not isinstance(text, str) or not text.strip():
        found = f"{str(text)[:40]!r}, expected a text" if str(text or "").strip() else "empty"
        raise RowError(f"the question is {found}.")
    id = plain_text(cells.get("id")) or id_from(text)
    documents = passages_of(cells.get("context"), id)
    return make_question(
        id=id,
        text=text,
        answers=answers_of(cells.get("answer")),
        dataset="table",
        documents=documents,
        facts=every_sentence(documents),
        n_facts=len(documents),
        tags={tag: tag_of(value_of(row.value, tag)) for tag in tags}
        | ({TYPE: plain_text(cells[TYPE]) or None} if TYPE in cells else {}),
    )
