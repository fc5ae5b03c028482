"""A small file beside the records that knows the last commit: what the records have lost since can be told.

It is written in place after each commit, by the one process that writes.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from shaketable.identity import digest
from shaketable.store.ownership import open_inside
from shaketable.store.sealing.seals import COMMITS, Seal, digest_seals

LENGTH = 200
"""Bytes, so that a longer note leaves nothing of an older one behind."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LastCommit:
    commits: int
    """Of all goes at the run."""
    records: int
    digest: str
    """Of all seals."""


class Noting:
    """The file, held open by the one that writes."""

    def __init__(self, records: Path) -> None:
        self._file = open_inside(path_beside(records))

    def note(self, seals: dict[str, Seal]) -> None:
        records = seals["records"].n if "records" in seals else 0
        values = {"commits": seals[COMMITS].n, "records": records, "digest": digest_seals(seals)}
        text = json.dumps({**values, "check": digest(values)[:8]})
        line = f"{text:<{LENGTH - 1}}\n".encode()
        if os.pread(self._file, LENGTH + 1, 0) != line:  # A run that has nothing to do stays as it is.
            os.pwrite(self._file, line, 0)

    def close(self) -> None:
        os.close(self._file)


def path_beside(records: Path) -> Path:
    return records.with_suffix(".seal")


def load_last_commit(records: Path) -> LastCommit | None:
    """None: there is no such file, or nothing is in it. A ValueError: it was altered."""
    path = path_beside(records)
    if not path.is_file() or not (content := path.read_bytes()):
        return None
    values = json.loads(content)
    if not isinstance(values, dict) or values.pop("check", None) != digest(values)[:8]:
        raise ValueError("its own digest does not fit")
    try:
        return LastCommit(**values)
    except TypeError as error:
        raise ValueError(str(error)) from error


def describe_loss(records: Path, seals: dict[str, Seal]) -> str | None:
    """What is wrong with the records, as far as the last commit tells; None: nothing."""
    path = path_beside(records)
    n_commits = seals[COMMITS].n if COMMITS in seals else 0
    try:
        last = load_last_commit(records)
    except ValueError as error:
        return f"{path} cannot be read: {error}."
    if last is None:
        return f"{path} is missing: what was lost of the records cannot be told." if n_commits > 1 else None
    if n_commits < last.commits:
        n_lost = last.records - (seals["records"].n if "records" in seals else 0)
        return (
            f"{records} has lost its last {last.commits - n_commits:,} commits, and {n_lost:,} records with them: the "
            "file or its log was damaged, replaced or copied without the other."
        )
    if n_commits == last.commits and digest_seals(seals) != last.digest:
        return f"{path} and the seals in {records.name} do not fit together: one of them was altered."
    return None
