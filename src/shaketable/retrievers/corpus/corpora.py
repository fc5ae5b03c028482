"""A corpus by name or path → its passages one after another, and the digest of what it holds."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import logging
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import IO, Any, NamedTuple

from shaketable import weights
from shaketable.errors import DataError, at_home
from shaketable.identity import digest_text
from shaketable.text.normalization import without_surrogates
from shaketable.text.unpacking import LONGEST_CELL

BUILTIN = "builtin"
BUILTIN_FILES = ("bridge_corpus.jsonl", "comparison_corpus.jsonl")
DPR_HEADER = ["id", "text", "title"]
DPR_ROWS = 21_015_324
"""Passages of 100 words in the Wikipedia of December 2018 as DPR (Karpukhin et al., 2020) cut it."""
LAYOUTS = (
    "JSON lines with 'text' and 'title', a BEIR folder with corpus.jsonl, or DPR's TSV with the header id, text, title"
)

log = logging.getLogger(__name__)


class Entry(NamedTuple):
    """One passage as a corpus gives it."""

    id: str
    title: str
    text: str | list[str]
    """A list where the corpus has it split into sentences."""

    @property
    def whole(self) -> str:
        return self.text if isinstance(self.text, str) else " ".join(self.text)


@dataclass(frozen=True, kw_only=True)
class Corpus:
    name: str
    """As a study names it: `builtin`, or the path of a file or folder; plain or gzipped."""

    @property
    def digest(self) -> str:
        """Of the text in its files, unpacked: neither their names nor their packing count. Remembered for a file
        by path, size and times, because planning needs it and 13 GB take a minute."""
        return digest_text("|".join(_digest(file) for file in self.files))

    @property
    def files(self) -> list[Path]:
        if self.name == BUILTIN:
            return [_builtin(name) for name in BUILTIN_FILES]
        path = at_home(self.name)
        if path.is_dir():  # the layout of BEIR
            files = [path / name for name in ("corpus.jsonl", "corpus.jsonl.gz") if (path / name).is_file()]
            if not files:
                raise DataError(f"The folder {path} holds no corpus.jsonl. A corpus is {LAYOUTS}.")
            return files[:1]
        if not path.is_file():
            raise DataError(f"There is no corpus {path.absolute()}. Give '{BUILTIN}' or a path: {LAYOUTS}.")
        return [path]

    def entries(self) -> Iterator[Entry]:
        """Every passage in order. A row without an id is named by its title where it gives sentences, whose ids then
        are those of a dataset made of the same documents, and by its row number where it gives a text."""
        is_empty = True
        for file in self.files:
            for entry in _entries(file):
                is_empty = False
                yield entry
        if is_empty:
            raise DataError(f"The corpus {self.name} is empty. A corpus is {LAYOUTS}.")

    def note(self, n_passages: int) -> str | None:
        """What is odd about this number of passages; None: nothing."""
        if self.name == BUILTIN or not _is_table(self.files[0]) or n_passages == DPR_ROWS:
            return None
        part = ": a part of it" if n_passages < DPR_ROWS else ": more than there should be"
        return f"{self.name} holds {n_passages:,} of the {DPR_ROWS:,} rows of DPR's Wikipedia{part}."


# --- files → entries ------------------------------------------------------------------------------


def _builtin(name: str) -> Path:
    with as_file(files("shaketable") / "resources" / "questions" / name) as path:
        return path


def _open(file: Path) -> IO[bytes] | gzip.GzipFile:
    with file.open("rb") as source:
        packed = source.read(2) == b"\x1f\x8b"  # Two bytes that open every gzip file.
    return gzip.open(file) if packed else file.open("rb")


def _is_table(file: Path) -> bool:
    with _unbroken(file), _open(file) as source:
        return source.readline(1000).decode("utf-8-sig", "replace").rstrip("\r\n").split("\t") == DPR_HEADER


def _entries(file: Path) -> Iterator[Entry]:
    read = _table_entries if _is_table(file) else _line_entries
    with _unbroken(file), _open(file) as source:
        yield from read(file.name, source)


def _line_entries(name: str, source: IO[bytes] | gzip.GzipFile) -> Iterator[Entry]:
    for n, line in enumerate(source, 1):
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError as error:
                raise DataError(f"{name} line {n}: broken JSON: {error}. A corpus is {LAYOUTS}.") from error
            yield _entry(row, n, f"{name} line {n}")


def _table_entries(name: str, source: IO[bytes] | gzip.GzipFile) -> Iterator[Entry]:
    rows = csv.reader(io.TextIOWrapper(source, "utf-8-sig", newline=""), delimiter="\t")
    csv.field_size_limit(LONGEST_CELL)
    next(rows)
    try:
        for row in rows:
            if len(row) != 3:
                quote = " Is a quote opened and not closed?" if any("\n" in cell for cell in row) else ""
                raise DataError(
                    f"{name} line {rows.line_num}: found {len(row)} columns, expected id, text, title.{quote} "
                    "Get the file again."
                )
            yield Entry(row[0], row[2], row[1])
    except csv.Error as error:  # A quote that is not closed takes in what follows, up to a limit.
        raise DataError(
            f"{name} line {rows.line_num}: {error}. Is a quote opened and not closed? Get the file again."
        ) from error


def _entry(row: Any, n: int, where: str) -> Entry:
    if not isinstance(row, dict):
        raise DataError(f"{where}: found {type(row).__name__}, expected an object. A corpus is {LAYOUTS}.")
    title, text, sentences = row.get("title") or "", row.get("text"), row.get("sentences")
    if not isinstance(title, str):
        raise DataError(f"{where}: 'title' is {title!r}, expected a text.")
    split = isinstance(sentences, list) and all(isinstance(sentence, str) for sentence in sentences)
    if not split and not isinstance(text, str):
        raise DataError(f"{where}: 'text' is missing or no text. Give 'text', or 'sentences' as a list of texts.")
    id = row.get("id", row.get("_id"))
    named = str(id) if id is not None else title if split and title else str(n)
    entry = Entry(named, title, sentences if split else text)  # type: ignore[arg-type]
    return entry if _is_whole(entry) else Entry(*(_mended(part) for part in entry))


def _is_whole(entry: Entry) -> bool:
    """Half a character (a lone surrogate) can be written in JSON, and nowhere else."""
    try:
        f"{entry.id}{entry.title}{entry.whole}".encode()
        return True
    except UnicodeEncodeError:
        return False


def _mended(part: str | list[str]) -> Any:
    return without_surrogates(part) if isinstance(part, str) else [without_surrogates(sentence) for sentence in part]


class _unbroken:  # noqa: N801 (used like a function)
    """Says which file is broken, and how."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        match error:
            case gzip.BadGzipFile() | EOFError() | zlib.error():
                raise DataError(f"{self.file} is a broken gzip file: {error}. Get it again.") from error
            case UnicodeDecodeError():
                raise DataError(f"{self.file}: byte {error.start} is not UTF-8. Save it as UTF-8.") from error
            case OSError():
                raise DataError(f"{self.file} cannot be read: {error.strerror}.") from error


# --- files → digests ------------------------------------------------------------------------------


def _digest(file: Path) -> str:
    before = _stamp(file)
    remembered = weights.home() / "digests" / f"{digest_text(str(file.absolute()))}.json"
    try:
        kept = json.loads(remembered.read_text("utf-8"))
        if kept["stamp"] == before:
            return str(kept["digest"])
    except (OSError, ValueError, KeyError):
        pass
    sha = hashlib.sha256()
    with _unbroken(file), closing(_open(file)) as source:
        while block := source.read(1 << 20):
            sha.update(block)
    digest = sha.hexdigest()
    # A file that was written a moment ago may change again without a change of its times.
    if _stamp(file) == before and time.time_ns() - before[1] > 2e9:
        _remember(remembered, {"path": str(file.absolute()), "stamp": before, "digest": digest})
    return digest


def _stamp(file: Path) -> list[int]:
    """Size, and the times at which content and inode changed last, in nanoseconds."""
    state = file.stat()
    return [state.st_size, state.st_mtime_ns, state.st_ctime_ns]


def _remember(file: Path, value: Any) -> None:
    try:
        weights.make_folder(file.parent)
        with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False, encoding="utf-8") as scratch:
            json.dump(value, scratch)
        Path(scratch.name).replace(file)
    except OSError as error:  # A cache that cannot be written costs time, nothing else.
        log.info("The digest of a corpus was not kept: %s", error)
