"""Files → rows with their place, and rows → questions: what all loaders share."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import os
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from shaketable.datasets.reading.sentences import sentence_bounds
from shaketable.errors import DataError, describe_encoding, did_you_mean
from shaketable.identity import digest_text
from shaketable.text.unpacking import LONGEST_CELL, refuse_bomb, refuse_pipe, unpack
from shaketable.text.unseen import clean_name, clean_names
from shaketable.types import Json, Passage, Question, Rejected, Sentence

Model = TypeVar("Model", bound=BaseModel)
Fact = tuple[str, int]
"""The id of a passage, which is its title where no two share one, and the index of a sentence in it, from 0."""
DELIMITERS = (",", ";", "\t")
HALF = re.compile(r"[\ud800-\udfff]")
EMPTY_ROW = "the row is empty."
MOST_ROWS = 5_000_000
"""Of a file: all of them are in the memory at once."""
MOST_COLUMNS = 5000
TOO_MANY_DIGITS = "a number has thousands of digits."


class RowError(ValueError):
    """Why a row cannot become a question: a sentence that follows the row's place and a colon."""


# --- files → rows -------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    where: str
    """`nq.jsonl line 418`, `dev.json record 3` or `train.parquet row 7`, counted from 1."""
    value: Any
    has_cells: bool = False
    """Whether it is of a table with named columns (CSV, Parquet), where what is not given is an empty cell."""


def read_rows(file: Path | Traversable, *, tables: bool = False) -> Iterator[Row]:
    """The rows of a file; the first broken one is an error."""
    for row in scan_rows(file, tables=tables):
        if isinstance(row, Rejected):
            raise DataError(f"{row.where}: {row.reason} Give one JSON array or one JSON object per line, in UTF-8.")
        yield row


def scan_rows(file: Path | Traversable, *, tables: bool = False, header: bool = False) -> Iterator[Row | Rejected]:
    """As `_scan_rows`; what cannot be stored is rejected where it stands."""
    content = _content(file)
    has_escapes = b"\\u" in content  # UTF-8 itself holds no half of a character.
    for n, row in enumerate(_scan_rows(file, content, tables=tables, header=header), 1):
        _refuse_many(file.name, n)
        half = _half_character(row.value) if has_escapes and isinstance(row, Row) else None
        yield row if half is None else Rejected(where=row.where, reason=half)


def _refuse_many(name: str, n_rows: int = 0, n_columns: int = 0) -> None:
    if n_rows > MOST_ROWS:
        raise DataError(f"{name} has more than {MOST_ROWS:,} rows. Give a part of them: it is read as a whole.")
    if n_columns > MOST_COLUMNS:
        raise DataError(
            f"{name} has {n_columns:,} columns, expected at most {MOST_COLUMNS:,}. Give the columns that are needed."
        )


def _half_character(value: Any) -> str | None:
    """JSON escapes can spell half a character."""
    waiting = [value]
    while waiting:
        own = waiting.pop()
        if isinstance(own, dict):
            waiting += (*own, *own.values())
        elif isinstance(own, list):
            waiting += own
        elif isinstance(own, str) and not own.isascii() and (half := HALF.search(own)):
            near = own[max(0, half.start() - 30) : half.start()]
            return f"it holds half a character (a lone surrogate, U+{ord(half.group()):04X}) after '{near}'."
    return None


def _scan_rows(file: Path | Traversable, content: bytes, *, tables: bool, header: bool) -> Iterator[Row | Rejected]:
    """The rows of a JSON array, of JSON lines, of one JSON object (a single row) or of a Parquet file.

    `tables`: also of tab-separated lines without a header, as lists, and of CSV with one, as objects.
    `header`: of any table whose first line names its columns, by commas, semicolons or tabs, as objects.
    All may be gzipped. The content decides, not the name: JSON lines called `.json` are common.
    """
    opening = content[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if content.startswith(b"PAR1"):
        yield from _parquet_rows(file.name, content)
    elif opening == b"[":
        records = _whole(content, file.name)
        yield from (Row(where=f"{file.name} record {n}", value=value) for n, value in enumerate(records, 1))
    elif opening == b"{" and _is_one_object(content):
        yield Row(where=file.name, value=_whole(content, file.name))
    elif (tables or header) and opening not in (b"{", b""):
        text = _decoded(content, file.name)
        yield from _table_rows(file.name, text, _delimiter(text) if header else None)
    else:
        # Bytes are split at line feeds alone: JSON strings may hold other line separators, such as U+2028.
        for n, line in enumerate(io.BytesIO(content), 1):
            if line.strip():
                yield _line_row(f"{file.name} line {n}", line)


def nested(row: Row, key: str) -> Iterator[Row | Rejected]:
    """The members of a list inside a row, each a row of its own."""
    members = row.value.get(key) if isinstance(row.value, dict) else None
    if not isinstance(members, list):
        yield Rejected(where=row.where, reason=f"'{key}' is {_shortened(members)}, expected a list.")
        return
    yield from (Row(where=f"{row.where} {key}[{n}]", value=value) for n, value in enumerate(members))


def _is_one_object(content: bytes) -> bool:
    """Whether a JSON object goes over many lines: neither of the first two is a value of its own."""
    lines = content.strip().split(b"\n", 2)
    return len(lines) > 1 and not any(isinstance(_line_row("", line), Row) for line in lines[:2])


def _line_row(where: str, line: bytes) -> Row | Rejected:
    try:
        return Row(where=where, value=json.loads(line.decode("utf-8-sig").rstrip("\r\n")))
    except UnicodeDecodeError as error:
        return Rejected(where=where, reason=f"byte {error.start} is not UTF-8.")
    except json.JSONDecodeError as error:
        return Rejected(where=where, reason=f"broken JSON at column {error.colno}: {error.msg}.")
    except ValueError:  # All that JSON leaves to the reader is how many digits a number may have.
        return Rejected(where=where, reason=TOO_MANY_DIGITS)
    except RecursionError:
        return Rejected(where=where, reason="the JSON is nested too deeply.")


def _whole(content: bytes, name: str) -> Any:
    try:
        return json.loads(_decoded(content, name))
    except json.JSONDecodeError as error:
        position = f"line {error.lineno}, column {error.colno}" if error.lineno > 1 else f"column {error.colno}"
        raise DataError(
            f"{name}: broken JSON at {position}: {error.msg}. Give one JSON array, or one JSON object per line."
        ) from error
    except ValueError as error:
        raise DataError(f"{name}: {TOO_MANY_DIGITS} Check that this is the dataset's file.") from error
    except RecursionError as error:
        raise DataError(f"{name}: the JSON is nested too deeply. Check that this is the dataset's file.") from error


def _decoded(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(describe_encoding(error, name)) from error


def _delimiter(text: str) -> str:
    """What stands between the columns: spreadsheets write semicolons where the comma is a decimal mark."""
    first = text.lstrip().partition("\n")[0]
    return max(DELIMITERS, key=first.count)


def _table_rows(name: str, text: str, delimiter: str | None = None) -> Iterator[Row | Rejected]:
    """`delimiter`: of a table with a header; None: it has one unless tabs stand in its first line."""
    has_header = delimiter is not None or "\t" not in text.partition("\n")[0]
    table = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter or ("," if has_header else "\t"))
    csv.field_size_limit(LONGEST_CELL)
    header: list[str] | None = None
    while True:
        where = f"{name} line {table.line_num + 1}"
        try:
            cells = next(table)
        except StopIteration:
            return
        except csv.Error as error:
            yield Rejected(where=where, reason=_explain_table(error))
            continue
        _refuse_many(name, n_columns=len(cells))
        if not has_header:
            yield Row(where=where, value=cells)
        elif header is None:
            header = cells if delimiter is None else _whole_header(name, cells)
        elif cells and not any(cell.strip() for cell in cells):
            yield Rejected(where=where, reason=EMPTY_ROW)
        elif len(cells) == len(header):
            yield Row(where=where, value=dict(zip(header, cells, strict=True)), has_cells=True)
        elif cells:
            yield Rejected(where=where, reason=f"found {len(cells)} cells, expected {len(header)} as in the header.")


def _explain_table(error: csv.Error) -> str:
    if "field limit" not in str(error):
        return f"broken table: {error}."
    return f"a cell has more than {LONGEST_CELL:,} characters. Is a quote opened and not closed?"


def _whole_header(name: str, cells: Sequence[str]) -> list[str]:
    header = [cell.strip() for cell in cells]
    if doubled := next((cell for cell in header if cell and header.count(cell) > 1), None):
        raise DataError(f"{name}: two columns are named '{doubled}'. Rename or take out one.")
    return header


def _content(file: Path | Traversable) -> bytes:
    if "\0" in str(file):
        raise DataError(f"{str(file)!r:.80} cannot be a file: it holds NUL. Check the dataset's path.")
    if isinstance(file, Path):
        refuse_pipe(file)
    try:
        return unpack(file.read_bytes(), file.name)
    except FileNotFoundError as error:
        folder = file.parent.absolute() if isinstance(file, Path) else "the package"
        raise DataError(f"There is no file {file.name} in {folder}. Check the dataset's path.") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{file.name} is a broken gzip file: {error}. Get it again.") from error
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror}. Give the path of a file.") from error


def _parquet_rows(name: str, content: bytes) -> Iterator[Row]:
    import polars

    try:
        with _without_panics():
            lazy = polars.scan_parquet(io.BytesIO(content))
            _refuse_many(name, lazy.select(polars.len()).collect().item(), len(lazy.collect_schema()))
            table = polars.read_parquet(io.BytesIO(content))
            # A text that many rows share is in the memory once, until each row has it.
            refuse_bomb(name, len(content), int(table.estimated_size()))
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, MemoryError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise DataError(f"{name} is a broken Parquet file: {reason}. Get it again.") from error
    for n, value in enumerate(table.iter_rows(named=True), 1):
        yield Row(where=f"{name} row {n}", value=value, has_cells=True)


@contextlib.contextmanager
def _without_panics() -> Iterator[None]:
    """The reader of Parquet files writes pages about a damaged one, past Python, before it says so in a sentence."""
    kept = os.dup(2)
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


# --- rows → checked fields ----------------------------------------------------------------------


def fields_of(row: Row, model: type[Model]) -> Model:
    """The fields of a row, or what is wrong with one of them."""
    try:
        return model.model_validate(row.value)
    except ValidationError as error:
        # A misspelled key explains the one that is missing, so it goes first.
        worst = min(error.errors(), key=lambda problem: problem["type"] != "extra_forbidden")
        raise RowError(_explained(worst, list(model.model_fields))) from error


def checked(row: Row, model: type[Model], advice: str) -> Model:
    """The fields of a row; what is wrong with one of them is an error that ends with the loader's advice."""
    try:
        return fields_of(row, model)
    except RowError as error:
        raise DataError(f"{row.where}: {error} {advice}") from error


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


def check_ids(ids: Iterable[tuple[str, str]], made_ids: Collection[str] = ()) -> None:
    """Each (place, id) must have an id of its own: it names the question in every result. `made_ids`: those that nobody
    gave."""
    seen: dict[str, str] = {}
    for where, id in ids:
        if id in seen:
            raise DataError(f"{where}: {format_repeated(id, seen[id], made_ids)}. Give each question its own id.")
        seen[id] = where


def format_repeated(id: str, first: str, made_ids: Collection[str] = ()) -> str:
    """What is wrong with an id that another row has, whether it was given or made of the question's text."""
    return f"the same question as in {first}" if id in made_ids else f"the id '{id}' was already used in {first}"


# --- fields → values ----------------------------------------------------------------------------


def passage(title: str, sentences: Sequence[str], id: str | None = None) -> Passage:
    """A document of a record. Empty sentences are not read; the others keep the dataset's index in their ids."""
    own_id = title if id is None else id
    numbered = ((index, sentence.strip()) for index, sentence in enumerate(sentences))
    return Passage(
        id=own_id,
        title=title,
        sentences=tuple(Sentence(id=f"{own_id}#{index}", text=text) for index, text in numbered if text),
    )


def paragraph(title: str, sentences: Sequence[str]) -> Passage:
    """A document of a dataset in which many share a title: the id tells them apart by their text."""
    return passage(title, sentences, id=f"{title}~{digest_text(' '.join(sentences))[:8]}")


def text_paragraph(title: str, text: str) -> Passage:
    """The same for a paragraph that comes as one text: its sentences are told apart by rule."""
    return passage(title, split_sentences(text), id=f"{title}~{digest_text(text)[:8]}")


def split_sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_bounds(text)]


def every_sentence(documents: Iterable[Passage]) -> list[Fact]:
    """Facts for documents that support as a whole."""
    return [
        (document.id, int(sentence.id.rpartition("#")[2])) for document in documents for sentence in document.sentences
    ]


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
    n_facts: int | None = None,
) -> Question:
    """A question whose facts are known to be in its documents. Tags that are None are left out, `n_facts` is added.

    `n_facts` of None are all facts; where a whole document is a fact, all its sentences support.
    """
    titles = {document.id: document.title for document in documents}
    counted: dict[str, Json] = {"n_facts": len(facts) if n_facts is None else n_facts}
    return Question(
        id=clean_name(id),
        text=text.strip(),
        answers=tuple(answer.strip() for answer in answers),
        dataset=dataset,
        documents=tuple(documents),
        supporting=tuple(f"{id}#{index}" for id, index in facts),
        gold_titles=tuple(dict.fromkeys(titles.get(id, id) for id, _ in facts)),
        tags={clean_name(name): clean_names(value) for name, value in tags.items() if value is not None} | counted,
    )


def corpus_of(questions: Iterable[Question]) -> tuple[Passage, ...]:
    """All documents of all records, one for each id: the first, where records cut a page differently."""
    by_id: dict[str, Passage] = {}
    for question in questions:
        for document in question.documents:
            by_id.setdefault(document.id, document)
    return tuple(by_id.values())
