"""A run is its owner's alone, unless he opened its folder to others: answers and evidence may be private."""

from __future__ import annotations

import contextlib
import stat
from pathlib import Path

OTHERS = stat.S_IRWXG | stat.S_IRWXO
"""What the group and everybody else may do."""


def make_run_folder(folder: Path) -> None:
    """Closed to others from its first moment, so that nothing in it can be reached. One that is there stays."""
    folder.mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)


def file_mode(folder: Path) -> int:
    """Of a file that is made in a folder: as closed as the folder is."""
    return 0o666 if folder.stat().st_mode & OTHERS else 0o600


def keep_closed(folder: Path) -> None:
    """Close what libraries made in a folder that is closed itself: it may be moved out, or copied with its modes."""
    if not folder.is_dir() or folder.stat().st_mode & OTHERS:
        return
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):  # Gone meanwhile, or another's.
            mode = path.lstat().st_mode
            if mode & OTHERS and not stat.S_ISLNK(mode):
                path.chmod(stat.S_IMODE(mode) & ~OTHERS)
