"""Your own questions, one JSON object per line → questions. `docs/data.md` shows the layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, StrictInt

from shaketable.datasets.reading.rows import (
    Fact,
    Row,
    check_ids,
    checked,
    corpus_of,
    every_sentence,
    make_question,
    passage,
    read_rows,
    split_sentences,
    trouble,
)
from shaketable.errors import DataError, did_you_mean
from shaketable.identity import digest_text
from shaketable.types import Loaded, Passage, Question

ADVICE = "docs/data.md shows the layout."


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid")

    title: str
    sentences: list[str] | None = None
    text: str | None = None


class _Fields(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: str | StrictInt | None = None
    question: str
    answers: list[str] = []
    type: str | None = None
    level: str | None = None
    tags: dict[str, str | int | float | bool | None] = {}
    documents: list[_Document] = []
    facts: list[tuple[str, StrictInt]] = []
    reference: str | None = None


def load_jsonl(
    path: str | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    rows: Mapping[str, str | int | float | bool] | None = None,
) -> Loaded:
    """The questions of a file in the layout of `docs/data.md`. Nothing is rejected: what is wrong is an error.

    `columns`: our key → the file's, for a file of another layout; what they do not name is not read.
    `rows`: key of the file → the value that a row must have to be read.
    """
    if path is None:
        raise DataError("Dataset 'jsonl' needs a path: path = 'questions.jsonl'. docs/data.md shows the layout.")
    file = Path(path).expanduser()
    read = [row for row in read_rows(file) if _has(row, rows or {})]
    if rows and not read:
        raise DataError(f"{file.name}: no row has {dict(rows)}. Check dataset.rows.")
    return _loaded(file.name, read if columns is None else [_renamed(row, columns) for row in read])


def _loaded(name: str, rows: Sequence[Row]) -> Loaded:
    questions = tuple(_question(row) for row in rows)
    if not questions:
        raise DataError(f"{name}: found no questions. Give one JSON object per line. {ADVICE}")
    check_ids((row.where, question.id) for row, question in zip(rows, questions, strict=True))
    return Loaded(questions=questions, corpus=corpus_of(questions))


def _has(row: Row, wanted: Mapping[str, str | int | float | bool]) -> bool:
    return all(_value(row, key) == value for key, value in wanted.items())


def _renamed(row: Row, columns: Mapping[str, str]) -> Row:
    """The row in our layout."""
    if unknown := next((key for key in columns if key not in _Fields.model_fields), None):
        known = list(_Fields.model_fields)
        raise DataError(
            f"dataset.columns: '{unknown}' is no key of ours.{did_you_mean(unknown, known)} Keys: {', '.join(known)}."
        )
    return replace(row, value={key: _value(row, column) for key, column in columns.items()})


def _value(row: Row, key: str) -> object:
    if not isinstance(row.value, dict) or key not in row.value:
        known = list(row.value) if isinstance(row.value, dict) else []
        raise DataError(f"{row.where}: '{key}' is missing.{did_you_mean(key, known)} Keys: {', '.join(known)}.")
    return row.value[key]


def _question(row: Row) -> Question:
    fields = checked(row, _Fields, ADVICE)
    if not fields.question.strip():
        raise DataError(f"{row.where}: 'question' is empty. Give the question's text.")
    _check_answers(row.where, fields)
    if taken := {"type", "level", "n_facts"} & fields.tags.keys():
        raise DataError(
            f"{row.where}: 'tags' holds '{min(taken)}'. Write type and level beside 'question'; n_facts is counted."
        )
    documents = [_document(row.where, document) for document in fields.documents]
    facts = _facts(row.where, fields, documents)
    if reason := trouble(facts, documents):
        raise DataError(f"{row.where}: {reason}. Facts are [title, sentence index from 0]. {ADVICE}")
    question = make_question(
        # The text names a question without an id, so moving lines changes nothing.
        id=str(fields.id) if fields.id is not None else digest_text(fields.question.strip())[:16],
        text=fields.question,
        answers=fields.answers,
        dataset="jsonl",
        documents=documents,
        facts=facts,
        n_facts=len(fields.facts),
        tags={**fields.tags, "type": fields.type, "level": fields.level},
    )
    return replace(question, reference=fields.reference)


def _facts(where: str, fields: _Fields, documents: Sequence[Passage]) -> list[Fact]:
    """As the row names them; [title, 0] of a document that came as one text means all of it."""
    came_whole = {given.title for given in fields.documents if given.sentences is None}
    whole = {document.title: document for document in documents if document.title in came_whole and document.sentences}
    facts: list[Fact] = []
    for title, index in fields.facts:
        if title in whole and index != 0:
            raise DataError(
                f"{where}: the fact ['{title}', {index}] names a sentence of a document that came as one text. Write "
                f"['{title}', 0] for all of it, or give the document's 'sentences'. {ADVICE}"
            )
        facts += every_sentence([whole[title]]) if title in whole else [(title, index)]
    return facts


def _check_answers(where: str, fields: _Fields) -> None:
    unanswerable = bool(fields.tags.get("unanswerable"))
    if unanswerable and fields.answers:
        raise DataError(
            f"{where}: tagged 'unanswerable' with {len(fields.answers)} answers. Leave out the tag or the answers."
        )
    if not unanswerable and not fields.answers:
        raise DataError(f"{where}: 'answers' is empty. Give an accepted answer, or tag the question 'unanswerable'.")
    if not all(answer.strip() for answer in fields.answers):
        raise DataError(f"{where}: 'answers' holds an empty text. Take it out.")


def _document(where: str, document: _Document) -> Passage:
    match document.sentences, document.text:
        case list(sentences), None:
            return passage(document.title, sentences)
        case None, str(text):
            return passage(document.title, split_sentences(text))
        case _:
            raise DataError(f"{where}: the document '{document.title}' needs either 'sentences' or 'text'. {ADVICE}")
