"""Tables of any length → files: CSV, JSON lines or Parquet, written some rows after the other."""

from __future__ import annotations

import contextlib
import itertools
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

import polars as pl

from shaketable.errors import RunError

TextFormat = Literal["csv", "jsonl"]
FileFormat = Literal["csv", "jsonl", "parquet"]


def write_frames(
    slices: Iterable[pl.DataFrame], file: Path, file_format: FileFormat, metadata: Mapping[str, str] | None = None
) -> int:
    """Slices of a table, one at least, as one file; returns how many rows there are. Only Parquet keeps metadata."""
    if file_format == "parquet":
        return _write_parquet(iter(slices), file, dict(metadata or {}))
    n = 0
    with _written(file, OSError), file.open("wb") as out:
        for frame, text in format_frames(slices, file_format):
            n += frame.height
            out.write(text.encode())
    return n


def format_frames(slices: Iterable[pl.DataFrame], file_format: TextFormat) -> Iterator[tuple[pl.DataFrame, str]]:
    """Each slice with its text."""
    for place, frame in enumerate(slices):
        yield frame, frame.write_csv(include_header=place == 0) if file_format == "csv" else frame.write_ndjson()


@contextlib.contextmanager
def _written(file: Path, *kinds: type[Exception]) -> Iterator[None]:
    """What stands in the way, such as a full disk, is told by libraries in words of their own."""
    try:
        yield
    except kinds as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        raise RunError(
            f"{file} could not be written: {reason}. Check the disk's space and the folder's permissions, then do it "
            "again."
        ) from error


def _write_parquet(slices: Iterator[pl.DataFrame], file: Path, metadata: dict[str, str]) -> int:
    """Slices lie beside the file until all are there: what a Parquet file holds is told at its end."""
    first, second = next(slices), next(slices, None)
    if second is None:
        with _written(file, pl.exceptions.PolarsError, OSError):
            first.write_parquet(file, metadata=metadata)
        return first.height
    with _written(file, OSError):
        folder = Path(tempfile.mkdtemp(prefix=f"{file.name}.", suffix=".parts", dir=file.parent))
    n = 0
    parts: list[Path] = []
    try:
        for frame in itertools.chain((first, second), slices):
            n += frame.height
            parts.append(folder / f"{len(parts):06}.parquet")
            with _written(file, pl.exceptions.PolarsError, OSError):
                frame.write_parquet(parts[-1])
        with _written(file, pl.exceptions.PolarsError, OSError):
            pl.scan_parquet(parts).sink_parquet(file, metadata=metadata)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return n
