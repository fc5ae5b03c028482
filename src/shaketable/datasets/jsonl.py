"""Your own questions, one JSON object per line → questions. `docs/data.md` shows the layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from shaketable.datasets.reading.gather import made_ids_of
from shaketable.datasets.reading.json_layout import ADVICE, JsonFields, question_of_object
from shaketable.datasets.reading.rows import Row, check_ids, corpus_of, read_rows
from shaketable.errors import DataError, at_home, did_you_mean
from shaketable.types import Loaded


def load_jsonl(
    path: str | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    rows: Mapping[str, str | int | float | bool] | None = None,
) -> Loaded:
    """The questions of a file in the layout of `shaketable docs data`. Nothing is rejected: what is wrong is an error.

    `columns`: our key → the file's, for a file of another layout; what they do not name is not read.
    `rows`: key of the file → the value that a row must have to be read.
    """
    if path is None:
        raise DataError(
            "Dataset 'jsonl' needs a path: path = 'questions.jsonl'. `shaketable docs data` shows the layout."
        )
    file = at_home(path)
    read = [row for row in read_rows(file) if _has(row, rows or {})]
    if rows and not read:
        raise DataError(f"{file.name}: no row has {dict(rows)}. Check dataset.rows.")
    return _loaded(file.name, read if columns is None else [_renamed(row, columns) for row in read])


def _loaded(name: str, rows: Sequence[Row]) -> Loaded:
    questions = tuple(question_of_object(row) for row in rows)
    if not questions:
        raise DataError(f"{name}: found no questions. Give one JSON object per line. {ADVICE}")
    places = ((row.where, question.id) for row, question in zip(rows, questions, strict=True))
    check_ids(places, made_ids_of(questions))
    return Loaded(questions=questions, corpus=corpus_of(questions))


def _has(row: Row, wanted: Mapping[str, str | int | float | bool]) -> bool:
    return all(_value(row, key) == value for key, value in wanted.items())


def _renamed(row: Row, columns: Mapping[str, str]) -> Row:
    """The row in our layout."""
    if unknown := next((key for key in columns if key not in JsonFields.model_fields), None):
        known = list(JsonFields.model_fields)
        raise DataError(
            f"dataset.columns: '{unknown}' is no key of ours.{did_you_mean(unknown, known)} Keys: {', '.join(known)}."
        )
    return replace(row, value={key: _value(row, column) for key, column in columns.items()})


def _value(row: Row, key: str) -> object:
    if not isinstance(row.value, dict) or key not in row.value:
        known = list(row.value) if isinstance(row.value, dict) else []
        raise DataError(f"{row.where}: '{key}' is missing.{did_you_mean(key, known)} Keys: {', '.join(known)}.")
    return row.value[key]
