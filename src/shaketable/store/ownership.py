"""A run is its owner's alone, unless he opened its folder to others: answers and evidence may be private."""

from __future__ import annotations

import contextlib
import stat
from pathlib import Path

from shaketable.text.whole_file import OTHERS, file_mode

__all__ = ["file_mode", "keep_closed", "make_run_folder"]


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
