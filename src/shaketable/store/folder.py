"""The folder of a run: its frozen study, and its records with their one writer."""

from __future__ import annotations

import contextlib
import datetime
import itertools
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Self

from shaketable.errors import RunError
from shaketable.store.database import describe_half_character
from shaketable.store.extension import Change, compare_studies
from shaketable.store.lock import NAME as LOCK
from shaketable.store.lock import hold_lock
from shaketable.store.ownership import keep_closed, make_run_folder, refuse_links
from shaketable.store.records import RecordStore
from shaketable.store.sealing.files import NAME as SEALS
from shaketable.store.sealing.files import write_sealed
from shaketable.study import (
    folder_noted,
    format_study,
    hold_prompts,
    load_study,
    note_folder,
    note_registered,
    without_folder,
)
from shaketable.text.whole_file import UNFINISHED
from shaketable.types import Study

STUDY = "study.toml"
EARLIER = "study.{}.toml"
"""What a run was made of before it was extended, from 1 on."""


def batches_of(folder: Path) -> Path:
    """Where a run keeps what it knows of batches at endpoints, until its records have their replies."""
    return folder / "batches"


class RunFolder:
    """Opened for reading; `writing()` hands out the store to the one process that writes."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._content: tuple[tuple[tuple[int, int], ...], str] | None = None
        if not (self.folder / STUDY).is_file():
            raise RunError(
                f"{self.folder} holds no run: there is no {STUDY} in it. "
                f"Make one with: shaketable run STUDY --out {self.folder}."
            )
        refuse_links(self.folder)

    @classmethod
    def prepare(cls, folder: str | Path, study: Study) -> Self:
        """A new run's folder, or that of the same study to go on with, or of one with less: it grows, and what it was
        made of is kept beside. No answer is overwritten."""
        _prepare(Path(folder), note_registered(hold_prompts(study)))
        return cls(folder)

    @property
    def records_path(self) -> Path:
        return self.folder / "records.sqlite"

    @cached_property
    def study(self) -> Study:
        return load_study(self.folder / STUDY)

    def earlier_studies(self) -> tuple[Study, ...]:
        """Those that the run was made of before it was extended, the first one first."""
        return tuple(map(load_study, _earlier_files(self.folder)))

    def extensions(self) -> tuple[tuple[Change, ...], ...]:
        """What each extension added, the first one first."""
        studies = (*self.earlier_studies(), self.study)
        return tuple(compare_studies(before, after) for before, after in itertools.pairwise(studies))

    @cached_property
    def study_text(self) -> str:
        return without_folder((self.folder / STUDY).read_text("utf-8"))

    @contextlib.contextmanager
    def writing(self) -> Iterator[RecordStore]:
        """The store, for the one process that may write."""
        with hold_lock(self.folder), RecordStore(self.records_path) as store:
            if "created" not in store.meta():
                now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
                store.set_meta(created=now, study=self.study.name)
            try:
                yield store
            finally:
                keep_closed(self.folder)

    @cached_property
    def store(self) -> RecordStore:
        return RecordStore(self.records_path, read_only=True)

    def content_digest(self) -> str:
        """Of all that scores and findings are made from. Made anew when the file or its log changed: pages ask for
        it again and again."""
        stamps = self._stamps()
        if self._content is None or self._content[0] != stamps:
            self._content = stamps, self.store.content_digest()
        return self._content[1]

    def _stamps(self, *others: Path) -> tuple[tuple[int, int], ...]:
        """Time and size of the records, of their log and of other files: they change when those do."""
        files = (self.records_path, self.records_path.with_name(f"{self.records_path.name}-wal"), *others)
        return tuple((file.stat().st_mtime_ns, file.stat().st_size) for file in files if file.is_file())


def _prepare(folder: Path, study: Study) -> None:
    frozen = folder / STUDY
    if frozen.is_file():
        growth = find_growth(folder, study)
        if not growth and load_study(frozen) == study:
            return
        with hold_lock(folder):  # Not beside a process that answers the study as it was.
            if growth:
                _keep_earlier(folder)
            _freeze(folder, study)
        return
    if folder.is_file():
        raise RunError(f"{folder} is a file, and a run is a folder. Give an empty or new folder with --out.")
    if names := _strange_names(folder):
        raise RunError(
            f"{folder} is not empty and holds no run (found {', '.join(names[:3])}). "
            "Give an empty or new folder with --out."
        )
    make_run_folder(folder)
    with hold_lock(folder):
        _freeze(folder, study)


def find_growth(folder: Path, study: Study) -> tuple[Change, ...]:
    """What a study would add to the run in a folder: nothing where there is none. Refuses where it is another study."""
    frozen = folder / STUDY
    if not frozen.is_file():
        return ()
    changes = compare_studies(load_study(frozen), note_registered(hold_prompts(study)))
    if refused := [str(change) for change in changes if change.problem is not None]:
        raise RunError(
            f"{folder} holds the run of another study: {'; '.join(refused)}. Nothing was changed. "
            "Give another folder with --out, or go on with the old study: "
            f"shaketable run {frozen} --out {folder}."
        )
    return changes


def _freeze(folder: Path, study: Study) -> None:
    try:
        earlier = (folder / STUDY).read_text("utf-8") if (folder / STUDY).is_file() else ""
        content = note_folder(format_study(study), folder_noted(earlier) or Path.cwd()).encode()
    except UnicodeEncodeError as error:
        raise RunError(f"{folder}: a name in the study {describe_half_character(error)}") from error
    write_sealed(folder / STUDY, content)


def _keep_earlier(folder: Path) -> None:
    """The study as it is now, under the next number; once, where a process was killed right after it."""
    text, earlier = (folder / STUDY).read_bytes(), list(_earlier_files(folder))
    if not earlier or earlier[-1].read_bytes() != text:
        write_sealed(folder / EARLIER.format(len(earlier) + 1), text)


def _earlier_files(folder: Path) -> Iterator[Path]:
    files = (folder / EARLIER.format(number) for number in itertools.count(1))
    return itertools.takewhile(Path.is_file, files)


def _strange_names(folder: Path) -> list[str]:
    """What a new folder should not hold; half a study is left there by a run that was killed in its first moment."""
    names = [entry.name for entry in folder.iterdir()] if folder.exists() else []
    return sorted(name for name in names if name not in (LOCK, SEALS) and not _is_begun(name))


def _is_begun(name: str) -> bool:
    begun = UNFINISHED.fullmatch(name)
    return begun is not None and begun["name"] in (STUDY, SEALS)
