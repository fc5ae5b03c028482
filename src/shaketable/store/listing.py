"""A folder → the runs in it, the newest first, each as one line."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shaketable.errors import ShaketableError
from shaketable.store.folder import STUDY
from shaketable.store.lock import NAME as LOCK
from shaketable.store.run import Run
from shaketable.store.summary import RunSummary

RECORDS = "records.sqlite"
DEEPEST = 3
"""Folders below the one that is looked in."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedRun:
    folder: Path
    summary: RunSummary | None
    """None: it cannot be read."""
    headline: str = ""
    """What its report says first; empty: there is no report yet."""
    problem: str = ""
    """Why it cannot be read."""

    @property
    def systems(self) -> tuple[str, ...]:
        """Model and method."""
        if self.summary is None:
            return ()
        return tuple(f"{spent.model} · {spent.method}" for spent in self.summary.spent) or self.summary.models

    @property
    def dollars(self) -> float | None:
        """What its answers cost; None: not known."""
        known = [spent.dollars for spent in self.summary.spent if spent.dollars is not None] if self.summary else []
        return sum(known) if known else None


def is_run(folder: Path) -> bool:
    """Whether a folder is that of a run; one with a study alone is none, as anybody may name a study so."""
    return (folder / STUDY).is_file() and any((folder / name).is_file() for name in (RECORDS, LOCK))


def find_runs(folder: Path) -> tuple[Path, ...]:
    """The run that a folder is, or those below it; the newest first."""
    return tuple(sorted(_below(folder, DEEPEST), key=lambda run: (-_written(run), str(run))))


def list_runs(folder: Path) -> tuple[ListedRun, ...]:
    """Those that cannot be read are listed too, with the reason. The newest first, by when they were begun."""
    listed = [_listed(run) for run in find_runs(folder)]
    return tuple(sorted(listed, key=lambda run: (run.summary and run.summary.created) or "", reverse=True))


def _below(folder: Path, depth: int) -> Iterator[Path]:
    if is_run(folder):
        yield folder
        return
    if depth and folder.is_dir():
        for inner in folder.iterdir():
            if inner.is_dir() and not inner.is_symlink() and not inner.name.startswith("."):
                yield from _below(inner, depth - 1)


def _written(run: Path) -> float:
    records = run / RECORDS
    return (records if records.is_file() else run / STUDY).stat().st_mtime


def _listed(folder: Path) -> ListedRun:
    try:
        run = Run(folder)
        with run.reading() as fresh:
            summary = fresh.summary()
            headline = next(iter(fresh.headlines()), "")
        return ListedRun(folder=folder, summary=summary, headline=headline)
    except (ShaketableError, OSError, sqlite3.Error, ValueError) as error:
        return ListedRun(folder=folder, summary=None, problem=str(error) or type(error).__name__)
