"""Files → rows with their place, and rows → questions: what all loaders share."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from shaketable.errors import DataError, did_you_mean
from shaketable.types import Json, Passage, Question, Sentence

Model = TypeVar("Model", bound=BaseModel)
Fact = tuple[str, int]
"""A title, and the index of a sentence as the dataset counts, from 0."""


# --- files → rows -------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    where: str
    """`nq.jsonl line 418`, `dev.json record 3` or `train.parquet row 7`, counted from 1."""
    value: Any


def read_rows(file: Path | Traversable) -> Iterator[Row]:
    """The rows of a JSON array, of JSON lines (both may be gzipped) or of a Parquet file.

    The content decides, not the name: JSON lines called `.json` are common.
    """
    content = _content(file)
    if content.startswith(b"PAR1"):
        yield from _parquet_rows(file.name, content)
        return
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{file.name}: byte {error.start} is not UTF-8. Save the file as UTF-8.") from error
    if text.lstrip().startswith("["):
        records = _parsed(text, file.name)
        yield from (Row(where=f"{file.name} record {n}", value=value) for n, value in enumerate(records, 1))
        return
    # Not splitlines(): JSON strings may hold other line separators, such as U+2028.
    for n, line in enumerate(text.split("\n"), 1):
        if line.strip():
            where = f"{file.name} line {n}"
            yield Row(where=where, value=_parsed(line, where))


def _content(file: Path | Traversable) -> bytes:
    try:
        content = file.read_bytes()
        # Two bytes that open every gzip file.
        return gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
    except FileNotFoundError as error:
        place = file.parent.absolute() if isinstance(file, Path) else "the package"
        raise DataError(f"There is no file {file.name} in {place}. Check the dataset's path.") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{file.name} is a broken gzip file: {error}. Get it again.") from error
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror}. Give the path of a file.") from error


def _parsed(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}" if error.lineno > 1 else f"column {error.colno}"
        raise DataError(
            f"{where}: broken JSON at {place}: {error.msg}. Give one JSON array, or one JSON object per line."
        ) from error


def _parquet_rows(name: str, content: bytes) -> Iterator[Row]:
    import polars

    try:
        table = polars.read_parquet(io.BytesIO(content))
    except polars.exceptions.PolarsError as error:
        raise DataError(f"{name} is a broken Parquet file: {error}. Get it again.") from error
    yield from (Row(where=f"{name} row {n}", value=value) for n, value in enumerate(table.iter_rows(named=True), 1))


# --- rows → checked fields ----------------------------------------------------------------------


def checked(row: Row, model: type[Model], advice: str) -> Model:
    """The fields of a row, or what is wrong with one of them and the loader's advice."""
    try:
        return model.model_validate(row.value)
    except ValidationError as error:
        # A misspelled key explains the one that is missing, so it goes first.
        worst = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
        explained = _explained(worst, list(model.model_fields))
        raise DataError(f"{row.where}: {explained} {advice}") from error


def _explained(error: ErrorDetails, known: Sequence[str]) -> str:
    if not error["loc"]:
        return f"found {_shortened(error['input'])}, expected an object with the keys {', '.join(known)}."
    first, *inner = error["loc"]
    field = str(first) + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in inner)
    match error["type"]:
        case "missing":
            return f"'{field}' is missing."
        case "extra_forbidden" if inner:
            return f"'{field}' is no known key."
        case "extra_forbidden":
            return f"'{field}' is no known key.{did_you_mean(field, known)} Known keys: {', '.join(known)}."
        case "value_error":  # raised by a loader's own validator, which words the clause
            return f"'{field}' {error['msg'].removeprefix('Value error, ')}."
        case _:
            expected = error["msg"].removeprefix("Input should be ")
            return f"'{field}' is {_shortened(error['input'])}, expected {expected}."


def _shortened(value: Any) -> str:
    written = repr(value)
    return written if len(written) <= 60 else written[:57] + "..."


def check_ids(ids: Iterable[tuple[str, str]]) -> None:
    """Each (place, id) must have an id of its own: it names the question in every result."""
    seen: dict[str, str] = {}
    for where, id in ids:
        if id in seen:
            raise DataError(f"{where}: the id '{id}' was already used in {seen[id]}. Give each question its own id.")
        seen[id] = where


# --- fields → values ----------------------------------------------------------------------------


def passage(title: str, sentences: Sequence[str]) -> Passage:
    """A document of a record. Empty sentences are not read; the others keep the dataset's index in their ids."""
    numbered = ((index, sentence.strip()) for index, sentence in enumerate(sentences))
    return Passage(
        id=title,
        title=title,
        sentences=tuple(Sentence(id=f"{title}#{index}", text=text) for index, text in numbered if text),
    )


def trouble(facts: Sequence[Fact], documents: Sequence[Passage]) -> str | None:
    """Why these facts do not each name one sentence of the documents; None: they do."""
    by_title = {document.title: document for document in documents}
    if len(by_title) < len(documents):
        titles = [document.title for document in documents]
        doubled = next(title for title in titles if titles.count(title) > 1)
        return f"two documents are titled '{doubled}'"
    for position, (title, index) in enumerate(facts):
        fact = f"the fact ['{title}', {index}]"
        if title not in by_title:
            return f"{fact} names no document; titles: {', '.join(by_title) or 'none'}"
        ids = [sentence.id for sentence in by_title[title].sentences]
        if f"{title}#{index}" not in ids:
            indices = ", ".join(id.rpartition("#")[2] for id in ids)
            return f"{fact} names no sentence; '{title}' has the sentences {indices or 'none'}"
        if (title, index) in facts[:position]:
            return f"{fact} is given twice"
    return None


def make_question(
    *,
    id: str,
    text: str,
    answers: Iterable[str],
    dataset: str,
    documents: Sequence[Passage],
    facts: Sequence[Fact],
    tags: Mapping[str, Json],
    reference: str | None = None,
) -> Question:
    """A question whose facts are known to be in its documents. Tags that are None are left out, `n_facts` is added."""
    return Question(
        id=id,
        text=text.strip(),
        answers=tuple(answer.strip() for answer in answers),
        dataset=dataset,
        documents=tuple(documents),
        supporting=tuple(f"{title}#{index}" for title, index in facts),
        gold_titles=tuple(dict.fromkeys(title for title, _ in facts)),
        tags={name: value for name, value in tags.items() if value is not None} | {"n_facts": len(facts)},
        reference=reference,
    )


def corpus_of(questions: Iterable[Question]) -> tuple[Passage, ...]:
    """All documents of all records, one for each title: the first, where records cut a page differently."""
    by_title: dict[str, Passage] = {}
    for question in questions:
        for document in question.documents:
            by_title.setdefault(document.title, document)
    return tuple(by_title.values())
