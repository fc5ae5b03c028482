"""`seal.sha256`: the digests of the files that are written beside the records, as `sha256sum -c` reads them.

A file and its digest cannot be put in place in one moment: before it is replaced both digests are written, the old one
and the new one, and after it the new one alone. So whenever a process is killed, the file fits one of them.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from shaketable.errors import RunError
from shaketable.store.ownership import keep_closed
from shaketable.text.whole_file import beside, write_whole

NAME = "seal.sha256"
ABSENT = "0" * 64
"""The digest of a file that is not there, while it is written for the first time."""
LINE = re.compile(r"(?P<digest>[0-9a-f]{64})  (?P<name>[^/\n]+)")
Seals = dict[str, tuple[str, ...]]
"""File → the digests of which one must be its own."""
_fitting: dict[Path, tuple[object, bool]] = {}
"""File → its stamp and the seals' when it was last looked at, and whether they fitted."""


def write_sealed(path: Path, content: str | bytes) -> None:
    with beside(path) as temporary:
        temporary.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        replace_sealed(temporary, path)


def replace_sealed(temporary: Path, path: Path) -> None:
    """Put a finished file in its place, with its digest."""
    new = _digest(temporary)
    with _held(path.parent):
        seals, _ = load_seals(path.parent)
        before = seals.get(path.name) or (_digest(path) if path.is_file() else ABSENT,)
        _write(path.parent, {**seals, path.name: tuple(dict.fromkeys((*before, new)))})
        temporary.replace(path)
        _write(path.parent, {**seals, path.name: (new,)})
    keep_closed(path.parent)


def seal_files(paths: Iterable[Path]) -> None:
    """The digests of files of one folder as they are, where they have none yet."""
    for path in paths:
        with _held(path.parent):
            seals, _ = load_seals(path.parent)
            if path.name not in seals:
                _write(path.parent, {**seals, path.name: (_digest(path),)})


def load_seals(folder: Path) -> tuple[Seals, int]:
    """The digests, and how many lines could not be read."""
    file = folder / NAME
    lines = file.read_bytes().decode("utf-8", "replace").splitlines() if file.is_file() else []
    seals: Seals = {}
    n_unread = 0
    for line in lines:
        if match := LINE.fullmatch(line):
            seals[match["name"]] = (*seals.get(match["name"], ()), match["digest"])
        else:
            n_unread += 1
    return seals, n_unread


def is_as_sealed(path: Path) -> bool | None:
    """Whether a file is as it was written; None: it has no seal. One that is not there has the digest `ABSENT`."""
    if (fits := _fits(path)) is not False:
        return fits
    with _held(path.parent, fcntl.LOCK_SH):  # It may have been replaced between two looks.
        return _fits(path)


def _fits(path: Path) -> bool | None:
    seals, _ = load_seals(path.parent)
    if path.name not in seals:
        return None
    return (_digest(path) if path.is_file() else ABSENT) in seals[path.name]


def refuse_altered(path: Path, advice: str) -> None:
    """Before a file is read: what was altered is not looked into."""
    stamp = _stamp(path), _stamp(path.parent / NAME)
    known = _fitting.get(path)
    if known is None or known[0] != stamp:
        known = stamp, is_as_sealed(path) is not False
        _fitting[path] = known
    if not known[1]:
        raise RunError(f"{path} was altered after it was written. {advice}")


def _stamp(path: Path) -> tuple[int, int] | None:
    if not path.is_file():
        return None
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write(folder: Path, seals: Mapping[str, tuple[str, ...]]) -> None:
    text = "".join(f"{digest}  {name}\n" for name, digests in sorted(seals.items()) for digest in digests)
    # It is on the disk before the file: after a power cut an empty one would tell of nothing.
    write_whole(folder / NAME, text, settled=True)


@contextlib.contextmanager
def _held(folder: Path, kind: int = fcntl.LOCK_EX) -> Iterator[None]:
    """Several processes may write into one folder: each waits for the others here."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, kind)
        except OSError:
            if kind != fcntl.LOCK_SH:  # Reading without a lock may only fail where somebody writes.
                raise
        yield
    finally:
        os.close(handle)
