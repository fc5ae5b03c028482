"""One process writes to a run at a time: a lock on a file in its folder."""

from __future__ import annotations

import contextlib
import errno
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
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EIO)
"""What disks say that have no locks, such as some of a network."""


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
    """Whether a process is writing now. Any number may look at once. Where the disk has no locks nobody can write."""
    if not (folder / NAME).exists():
        return False
    with (folder / NAME).open() as lock:
        try:
            return not _take(lock, fcntl.LOCK_SH)
        except RunError:
            return False


def has_locks(folder: Path) -> bool:
    """Whether the disk of a run gives locks of both kinds. Its study is asked: nobody ever locks that file, and a lock
    that somebody has would end when it is closed here."""
    try:
        with (folder / "study.toml").open("rb") as file:
            for lock in (fcntl.flock, fcntl.lockf):
                lock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in NO_LOCKS
    return True


def _take(lock: IO[str], kind: int) -> bool:
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise RunError(
            f"{lock.name} cannot be locked: {error.strerror}. Without locks two processes could write to one run. Copy "
            "the run to a disk that has them, such as this computer's own, and go on there."
        ) from error
    return True
