"""One process writes to a run at a time: a lock on a file in its folder."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

from shaketable.errors import RunError

NAME = ".lock"


@contextlib.contextmanager
def hold_lock(folder: Path) -> Iterator[None]:
    """Refuses where another process holds it."""
    with (folder / NAME).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RunError(f"Another process is writing to {folder}. Wait for it, or use another --out.") from error
        yield


def is_locked(folder: Path) -> bool:
    """Whether a process is writing now."""
    if not (folder / NAME).exists():
        return False
    with (folder / NAME).open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
