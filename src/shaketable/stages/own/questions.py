"""Questions that a script or notebook has: values, mappings or a data frame → a dataset of this process."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from shaketable import catalog
from shaketable.datasets.reading.gather import made_ids_of
from shaketable.datasets.reading.json_layout import question_of_object
from shaketable.datasets.reading.rows import Row, check_ids, corpus_of
from shaketable.datasets.reading.table_layout import cells_of, question_of_cells
from shaketable.errors import DataError, StudyError
from shaketable.identity import digest
from shaketable.text.unseen import clean_name, clean_names
from shaketable.types import Json, Loaded, Question

NAME = "questions"
"""What such a dataset is called in studies, reports and exports."""
ONE_OBJECT = ("answers", "documents", "facts", "tags", "reference")
"""Keys that only the layout of JSON lines has."""
Questions = Iterable[object]
"""Questions, mappings with a question and its answers, or a data frame of pandas or polars with such columns."""

_held: dict[str, Loaded] = {}
"""Digest → questions."""


@runtime_checkable
class _PolarsFrame(Protocol):
    def to_dicts(self) -> list[dict[str, object]]: ...


@runtime_checkable
class _PandasFrame(Protocol):
    def to_dict(self, orient: str) -> list[dict[str, object]]: ...

    def iterrows(self) -> Iterable[object]: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class HeldQuestions:
    name: str
    digest: str

    @property
    def settings(self) -> dict[str, Json]:
        return {"name": self.name, "digest": self.digest}


def hold_questions(given: Questions) -> HeldQuestions:
    """Keep questions for the studies of this process, which know them by their digest."""
    questions = read_questions(given)
    held = digest([NAME, questions])[:16]
    _held[held] = Loaded(questions=questions, corpus=corpus_of(questions))
    catalog.register(
        "dataset",
        NAME,
        catalog.Registered(
            target=load_held, made_of=load_held, origin="questions handed over in Python", source_digest=held
        ),
    )
    return HeldQuestions(name=NAME, digest=held)


def load_held(digest: str = "") -> Loaded:
    """What was handed over under this digest, in this process."""
    if digest not in _held:
        raise StudyError(
            "dataset: these questions were handed over in Python by another process, or have changed since. Make the "
            "study again with them; what is answered stays, as long as they are the same."
        )
    return _held[digest]


def read_questions(given: Questions) -> tuple[Question, ...]:
    """Each with an id of its own; raises DataError, with the place in the list, where one is none."""
    if isinstance(given, str | bytes | Mapping):
        raise DataError(
            f"questions is {type(given).__name__}; give a list of them, such as "
            "[{'question': 'Who wrote Emma?', 'answers': ['Jane Austen']}]. A file is named by "
            "dataset={'name': 'csv', 'path': 'questions.csv'}."
        )
    rows = _rows(given)
    questions = tuple(_question(row, f"questions[{i}]") for i, row in enumerate(rows))
    if not questions:
        raise DataError("questions is empty. Give at least one.")
    check_ids(((f"questions[{i}]", question.id) for i, question in enumerate(questions)), made_ids_of(questions))
    return questions


def _rows(given: Questions) -> list[object]:
    if isinstance(given, _PolarsFrame):
        return list(given.to_dicts())
    if isinstance(given, _PandasFrame):
        return list(given.to_dict("records"))
    return list(given)


def _question(row: object, where: str) -> Question:
    if isinstance(row, Question):
        if not row.id or not row.text.strip():
            raise DataError(f"{where}: a question needs an id and a text.")
        tags = {clean_name(name): clean_names(value) for name, value in row.tags.items()}
        return replace(row, id=clean_name(row.id), dataset=NAME, tags=tags)
    if not isinstance(row, Mapping):
        raise DataError(
            f"{where} is {row!r:.60}; give a Question, or a mapping with 'question' and 'answers', or the columns of a "
            "table: question, answer, context, id."
        )
    values = {str(key): value for key, value in row.items() if not _is_missing(value)}
    if any(not isinstance(values.get(key, ""), str) for key in ONE_OBJECT):
        # Cells of a data frame may hold arrays.
        own = {key: value if isinstance(value, str | Mapping) else _listed(value) for key, value in values.items()}
        return replace(question_of_object(Row(where=where, value=own)), dataset=NAME)
    cells = cells_of(Row(where=where, value=values, has_cells=True), where)
    return replace(question_of_cells(*cells), dataset=NAME)


def _listed(value: object) -> object:
    return list(value) if isinstance(value, Iterable) else value


def _is_missing(value: object) -> bool:
    """An empty cell of a data frame is None or not a number."""
    return value is None or (isinstance(value, float) and math.isnan(value))


__all__ = ["NAME", "HeldQuestions", "Questions", "hold_questions", "load_held", "read_questions"]
