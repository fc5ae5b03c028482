"""Files that appear whole or not at all, whoever else writes them at the same time."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import glob
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

OTHERS = stat.S_IRWXG | stat.S_IRWXO
"""What the group and everybody else may do."""
UNFINISHED = re.compile(r"(?P<name>.+)\.\d+-[0-9a-f]{8}\.tmp")
"""Files that are being written: the name that they will have, the process, and a number of their own."""
MOST_BYTES = 200
"""Of the name that is repeated, for a name has 255 at most."""


def file_mode(folder: Path) -> int:
    """Of a file that is made in a folder: as closed as the folder is."""
    return 0o666 if folder.stat().st_mode & OTHERS else 0o600


def write_whole(path: Path, content: str | bytes, *, settled: bool = False) -> None:
    """`settled`: it is on the disk before it takes the place of what was there, so that power that fails leaves one of
    the two."""
    with beside(path) as temporary:
        with temporary.open("wb") as file:
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
            if settled:
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(path)


@contextlib.contextmanager
def beside(path: Path) -> Iterator[Path]:
    """An empty file in the same folder, to be filled and put in the place of the other. Where that is not done it is
    removed; what a killed process left is removed by the next process that writes the same file."""
    _remove_left(path)
    temporary, handle = _make(path)
    try:
        yield temporary
    finally:
        os.close(handle)
        temporary.unlink(missing_ok=True)


def _make(path: Path) -> tuple[Path, int]:
    """The file, and the lock on it, which ends with the process."""
    while True:
        temporary = path.with_name(f"{_repeated(path)}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
        handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, file_mode(path.parent))
        with contextlib.suppress(OSError):  # Some shared disks have no locks; nothing is removed there.
            fcntl.flock(handle, fcntl.LOCK_EX)
        if temporary.exists():  # Else it was taken for one that was left, before it was locked.
            return temporary, handle
        os.close(handle)


def _remove_left(path: Path) -> None:
    for entry, name in _unfinished_in(path.parent.absolute()):
        if name == _repeated(path):
            with contextlib.suppress(OSError):  # It is being written, or gone meanwhile.
                _remove(entry)


@functools.cache
def _unfinished_in(folder: Path) -> list[tuple[Path, str]]:
    """What is being written or was left, with its name to be, when this process first writes there: a folder may hold
    thousands of files, on a slow disk, and one of them is written twice a second."""
    try:
        return [(entry, found["name"]) for entry in folder.iterdir() if (found := UNFINISHED.fullmatch(entry.name))]
    except OSError:
        return []


def _remove(left: Path) -> None:
    with left.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for folder in left.parent.glob(f"{glob.escape(left.name)}.*.parts"):
            shutil.rmtree(folder, ignore_errors=True)
        left.unlink()


def _repeated(path: Path) -> str:
    return os.fsdecode(os.fsencode(path.name)[:MOST_BYTES])
