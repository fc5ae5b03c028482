"""Index folders: built once, checked when opened, never taken for whole when they are not."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import logging
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from pathlib import Path
from typing import Any, TypeVar

from shaketable import weights
from shaketable.identity import digest
from shaketable.types import Json

Thing = TypeVar("Thing")
MANIFEST = "manifest.json"
SECONDS_BETWEEN_NEWS = 10
BLOCK = 1 << 16
"""Bytes in each of the blocks of a file that are compared when an index is opened."""
N_BLOCKS = 16

log = logging.getLogger(__name__)


def open_index(
    name: str, corpus: str, settings: Mapping[str, Json], build: Callable[[Path], Mapping[str, Json]]
) -> tuple[Path, dict[str, Json]]:
    """The folder that holds the index of a corpus (by its digest) with these settings, and what is in it.

    `build` fills an empty folder and says what it put in. It works beside the final place, and the folder is moved
    there when it is whole, so a killed build leaves nothing that looks like an index. A damaged index is built again.
    """
    wanted: dict[str, Json] = {"corpus": corpus, "settings": dict(settings)}
    folder = weights.home() / "indexes" / corpus / f"{name}-{digest(wanted)[:12]}"
    if (trouble := damage(folder, wanted)) is None:
        return folder, _manifest(folder)["holds"]
    weights.make_folder(folder.parent)
    with weights.one_at_a_time(folder):
        if (trouble := damage(folder, wanted)) is None:  # built by another process meanwhile
            return folder, _manifest(folder)["holds"]
        if folder.exists():
            log.warning("The index %s is damaged: %s. It is built again.", folder, trouble)
            shutil.rmtree(folder)
        for left in folder.parent.glob(f".{folder.name}-*"):  # by a build that was killed
            shutil.rmtree(left)
        scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            start = time.perf_counter()
            holds = dict(build(scratch))
            manifest = {
                **wanted,
                "holds": holds,
                "versions": {package: importlib.metadata.version(package) for package in ("shaketable", "numpy")},
                "files": {
                    str(file.relative_to(scratch)): _sample(file)
                    for file in sorted(scratch.rglob("*"))
                    if file.is_file()
                },
            }
            (scratch / MANIFEST).write_text(json.dumps(manifest, indent=1), "utf-8")
            scratch.chmod(0o755)
            scratch.replace(folder)
        except BaseException:
            shutil.rmtree(scratch, ignore_errors=True)
            raise
        log.info("%s: built in %.0f s. It holds %s.", folder.name, time.perf_counter() - start, _describe(holds))
    return folder, holds


def damage(folder: Path, wanted: Mapping[str, Json]) -> str | None:
    """Why a folder is not the index that is wanted; None: it is. Sizes and samples of all files are compared."""
    try:
        manifest = _manifest(folder)
        if {key: manifest[key] for key in wanted} != wanted:
            return f"{MANIFEST} is that of another index"
        for name, sample in manifest["files"].items():
            if (now := _sample(folder / name)) != sample:
                return f"{name} is not as it was written ({now[0]:,} bytes, expected {sample[0]:,})"
    except (OSError, ValueError, KeyError) as error:
        return f"{type(error).__name__}: {error}"
    return None


def with_news(things: Iterable[Thing], task: str) -> Iterator[Thing]:
    """The same passages, or whatever stands for them, with a line in the log every few seconds."""
    start = last_news = time.monotonic()
    of_all = f" of {len(things):,}" if isinstance(things, Sized) else ""
    for n, thing in enumerate(things, 1):
        yield thing
        if n % 1000 == 0 and (now := time.monotonic()) - last_news > SECONDS_BETWEEN_NEWS:
            last_news = now
            log.info("%s: %s passages in %.0f s", task, f"{n:,}{of_all}", now - start)


def kept() -> tuple[Path, int, int]:
    """Where indexes are kept, how many there are, and their bytes in all."""
    folder = weights.home() / "indexes"
    files = [file for file in folder.rglob("*") if file.is_file()]
    return folder, sum(file.name == MANIFEST for file in files), sum(file.stat().st_size for file in files)


def _manifest(folder: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text("utf-8"))
    return manifest


def _sample(file: Path) -> list[Json]:
    """The size of a file, and a digest of blocks spread over all of it."""
    size = file.stat().st_size
    sha = hashlib.sha256()
    starts = range(0, size, BLOCK) if size <= BLOCK * N_BLOCKS else _spread(size)
    with file.open("rb") as source:
        for start in starts:
            source.seek(start)
            sha.update(source.read(BLOCK))
    return [size, sha.hexdigest()[:32]]


def _spread(size: int) -> list[int]:
    return [(size - BLOCK) * n // (N_BLOCKS - 1) for n in range(N_BLOCKS)]


def _describe(holds: Mapping[str, Json]) -> str:
    counts = {name.removeprefix("n_").replace("_", " "): n for name, n in holds.items() if isinstance(n, int)}
    return ", ".join(f"{n:,} {name}" for name, n in counts.items())
