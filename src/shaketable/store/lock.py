"""One process writes to a run at a time: a lock on a file in its folder."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from shaketable.errors import RunError
from shaketable.store.ownership import open_inside, refuse_links

NAME = ".lock"
PATIENCE_SECONDS = 0.2
"""How long a writer waits: whoever only looks holds the file for a moment."""
STEP_SECONDS = 0.01


@contextlib.contextmanager
def hold_lock(folder: Path) -> Iterator[None]:
    """Refuses where another process holds it."""
    refuse_links(folder)
    with os.fdopen(open_inside(folder / NAME), "r+") as lock:
        end = time.monotonic() + PATIENCE_SECONDS
        while not _take(lock, fcntl.LOCK_EX):
            if time.monotonic() > end:
                raise RunError(f"Another process is writing to {folder}. Wait for it, or use another --out.")
            time.sleep(STEP_SECONDS)
        yield


def is_locked(folder: Path) -> bool:
    """Whether a process is writing now. Any number may look at once."""
    if not (folder / NAME).exists():
        return False
    with (folder / NAME).open() as lock:
        return not _take(lock, fcntl.LOCK_SH)


def _take(lock: IO[str], kind: int) -> bool:
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
