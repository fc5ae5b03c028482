"""Whether a run is damaged, asked where something went wrong that no code expected."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from shaketable.errors import RunError, ShaketableError
from shaketable.store.records import RecordStore
from shaketable.store.sealing.folder import find_altered_files
from shaketable.store.verify import verify


@contextlib.contextmanager
def damage_told(folders: Iterable[Path], *wanted: type[Exception]) -> Iterator[None]:
    """What fails because values in a run were altered, such as JSON that is none any more, is told as that; anything
    else fails as it did, and `wanted` is how something may end."""
    try:
        yield
    except Exception as error:
        if isinstance(error, (ShaketableError, OSError, *wanted)):
            raise
        for folder in folders:
            if damage := _find(folder):
                raise RunError(
                    f"{folder} is damaged: {damage}. Nothing was changed. See: shaketable verify {folder}. Restore it "
                    "from a copy, or run the study again into another folder."
                ) from error
        raise


def _find(folder: Path) -> str | None:
    """The first problem; None: the run is sound, or there is none."""
    records = folder / "records.sqlite"
    if not records.is_file():
        return None
    try:
        with RecordStore(records, read_only=True) as store:
            verdict = verify(store)
            altered = find_altered_files(folder) if verdict.is_sealed else ()
            return next(iter((*verdict.problems, *altered)), None)
    except ShaketableError as error:
        return str(error).rstrip(".")
