"""The user's own cache of answers: where it lies, what switches it on, how large it may be, and how it is emptied."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shaketable import weights
from shaketable.errors import StoreError, StudyError
from shaketable.store.answer_cache import BROKEN, AnswerCache, open_file

SWITCH = "SHAKETABLE_CACHE"
SIZE = "SHAKETABLE_CACHE_MB"
DEFAULT_MB = 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class CacheSize:
    n_answers: int
    n_bytes: int
    """Of the answers; the file may be somewhat larger."""
    most_bytes: int


def cache_path() -> Path:
    return weights.home() / "answers.sqlite"


def is_switched_on() -> bool:
    """By the environment; a command's option goes before it."""
    given = os.environ.get(SWITCH, "").strip()
    if given not in ("", "0", "1"):
        raise StudyError(f"{SWITCH} is '{given}'; set it to 1 to share answers between runs, or to 0.")
    return given == "1"


def most_bytes() -> int:
    given = os.environ.get(SIZE, "").strip() or str(DEFAULT_MB)
    if not given.isascii() or not given.isdigit() or int(given) < 1:
        raise StudyError(f"{SIZE} is '{given}'; give the most megabytes of the cache as a whole number, such as 500.")
    return int(given) * 1_000_000


@contextlib.contextmanager
def open_cache(wanted: bool | None = None) -> Iterator[AnswerCache | None]:
    """The user's cache where it is wanted (None: where the environment switches it on), else None."""
    if not (is_switched_on() if wanted is None else wanted):
        yield None
        return
    cache = AnswerCache(cache_path(), most_bytes())
    try:
        yield cache
    finally:
        cache.close()


def cache_size() -> CacheSize:
    """Of the user's cache; one that cannot be read is an error here."""
    most = most_bytes()
    if not cache_path().is_file():
        return CacheSize(n_answers=0, n_bytes=0, most_bytes=most)
    try:
        with contextlib.closing(open_file(cache_path())) as connection:
            n_answers, n_bytes = connection.execute("SELECT n, n_bytes FROM totals").fetchone()
    except (*BROKEN, StoreError) as error:
        raise StoreError(f"{cache_path()} cannot be read: {error}. Empty it with: shaketable cache clear.") from error
    return CacheSize(n_answers=n_answers, n_bytes=n_bytes, most_bytes=most)


def clear_cache() -> None:
    """Forget all answers; a file that cannot be read as a cache is removed."""
    path = cache_path()
    if not path.is_file():
        return
    try:
        with contextlib.closing(open_file(path)) as connection:
            connection.execute("DELETE FROM answers")
            connection.execute("VACUUM")
    except (sqlite3.OperationalError, StoreError) as error:
        raise StoreError(
            f"{path} cannot be emptied now: {error}. Wait for the runs that use it, or remove the file."
        ) from error
    except BROKEN:
        for file in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
            file.unlink(missing_ok=True)
