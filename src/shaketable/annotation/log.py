"""The file that people fill: one JSON line per entry, on the disk before it is acknowledged."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from shaketable.errors import DataError
from shaketable.variations.variant_set import read_lines

START = b'{"id": "'
"""How every line begins, also one that a crash cut off."""


class RewriteRow(BaseModel):
    """A line of a file of rewrites, as the variation `rewrites` reads it."""

    model_config = ConfigDict(extra="allow", strict=True)

    id: str
    question: str
    """The wording that the writer saw."""
    rewrite: str
    annotator: str


class ReviewRow(BaseModel):
    """A line of a file of verdicts on machine-made wordings."""

    model_config = ConfigDict(extra="allow", strict=True)

    id: str
    """Digest of question id, question, variation and wording."""
    question_id: str
    question: str
    variation: str
    wording: str
    annotator: str
    accepted: bool


class AnnotationLog:
    """Opened for the one process that may write. A last line that a crash cut off was never acknowledged: it goes."""

    def __init__(self, path: Path, row_class: type[RewriteRow] | type[ReviewRow]) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a+b", buffering=0)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.n_cut = self._mend()
            self.rows = load_rows(path, row_class)
        except BlockingIOError as error:
            self._file.close()
            raise DataError(
                f"{path} is being filled by another `shaketable annotate`. Open its page, or give another --out."
            ) from error
        except DataError:
            self._file.close()
            raise
        folder = os.open(path.parent, os.O_RDONLY)  # A new file is there after a crash only if its folder is synced.
        os.fsync(folder)
        os.close(folder)

    def append(self, row: Mapping[str, Any]) -> None:
        """Returns when the line is on the disk; a line that does not fit there leaves nothing behind."""
        before = os.fstat(self._file.fileno()).st_size
        line = (json.dumps(row, ensure_ascii=False) + "\n").encode()
        try:
            if self._file.write(line) != len(line):
                raise OSError(f"{self.path} took only a part of the entry")
            os.fsync(self._file.fileno())
        except OSError:
            self._file.truncate(before)
            raise

    def close(self) -> None:
        self._file.close()

    def _mend(self) -> int:
        """Ends the last line, or cuts it where it is no whole entry; gives back how many bytes were cut."""
        self._file.seek(0)
        content = self._file.read()
        start = content.rfind(b"\n") + 1
        whole, last = content[:start], content[start:]
        if not last:
            return 0
        if _is_json(last):
            self._file.write(b"\n")
            return 0
        if not START.startswith(last[: len(START)]) or not all(map(_is_json, whole.splitlines())):
            raise DataError(f"{self.path} is no file that `shaketable annotate` fills. Give another --out.")
        self._file.truncate(start)
        return len(last)


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def load_rows(path: Path, row_class: type[RewriteRow] | type[ReviewRow]) -> list[dict[str, Any]]:
    """The entries of a file, checked."""
    rows = []
    for where, value in read_lines(path):
        try:
            rows.append(row_class.model_validate(value).model_dump())
        except ValidationError as error:
            problem = error.errors()[0]
            name = ".".join(str(step) for step in problem["loc"]) or "the line"
            expected = ", ".join(row_class.model_fields)
            raise DataError(
                f"{where}: '{name}': {problem['msg'].lower()}. Expected an object with {expected}. "
                "Mend the line, or give another file."
            ) from error
    return rows
