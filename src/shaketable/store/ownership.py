"""A run is its owner's alone, unless he opened its folder to others: answers and evidence may be private. And it is
no way to the owner's other files: what is written to a run stays in its folder, whoever made it."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

from shaketable.errors import RunError
from shaketable.text.whole_file import OTHERS, file_mode

__all__ = ["file_mode", "keep_closed", "make_run_folder", "open_inside", "refuse_links"]


def make_run_folder(folder: Path) -> None:
    """Closed to others from its first moment, so that nothing in it can be reached. One that is there stays."""
    folder.mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)


def keep_closed(folder: Path) -> None:
    """Close what libraries made in a folder that is closed itself: it may be moved out, or copied with its modes."""
    if not folder.is_dir() or folder.stat().st_mode & OTHERS:
        return
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):  # Gone meanwhile, or another's.
            mode = path.lstat().st_mode
            if mode & OTHERS and not stat.S_ISLNK(mode):
                path.chmod(stat.S_IMODE(mode) & ~OTHERS)


def refuse_links(folder: Path) -> None:
    """Refuse a run that holds a link, a pipe or a device: whoever made it chose what is read and written there."""
    for place, folders, files in os.walk(folder):
        for path in (Path(place, name) for name in (*folders, *files)):
            with contextlib.suppress(FileNotFoundError):  # Another process has just finished a file.
                mode = path.lstat().st_mode
                if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                    raise _strange(path, "link" if stat.S_ISLNK(mode) else "pipe or a device")


def open_inside(path: Path) -> int:
    """Open a file of a run to read and write, and make it where there is none; what a link points to stays closed."""
    try:
        return os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, file_mode(path.parent))
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _strange(path, "link") from error
        raise


def _strange(path: Path, kind: str) -> RunError:
    return RunError(
        f"{path} is a {kind}. A run has files of its own alone, since what is stored in it would change others. "
        f"Nothing was changed. Delete it if you do not know it (rm {path}), or put the file that is meant in its place."
    )
