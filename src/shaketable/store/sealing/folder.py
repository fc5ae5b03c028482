"""The files of a run beside its records, compared with their seals."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from shaketable.store.sealing.files import NAME, is_as_sealed, load_seals, seal_files

MADE_BY = {
    "study.toml": "restore it from a copy",
    "scores.parquet": "make it anew: shaketable score {}",
    "baselines.parquet": "make it anew: shaketable score {}",
    "findings.json": "make it anew: shaketable analyze {}",
    "explanations.json": "delete it, and explain again",
    "headlines.json": "make it anew: shaketable report {}",
    "report.html": "make it anew: shaketable report {}",
}
"""Which files are sealed, and what helps against an altered one."""


def find_altered_files(folder: Path) -> Iterator[str]:
    """A sentence for each file that is not as it was written."""
    seals, n_unread = load_seals(folder)
    if not (folder / NAME).is_file():
        yield f"{NAME} is missing: whether files beside the records were altered cannot be told"
        return
    if n_unread:
        yield f"{NAME}: {n_unread} of its lines cannot be read"
    for name in list_unsealed(folder):
        yield f"{name} has no line in {NAME}, which was altered: {_describe_help(folder, name)}"
    for name in sorted(seals):
        if is_as_sealed(folder / name) is False:
            problem = "was altered after it was written" if (folder / name).is_file() else "is missing"
            yield f"{name} {problem}: {_describe_help(folder, name)}"


def _describe_help(folder: Path, name: str) -> str:
    return MADE_BY.get(name, "restore it from a copy").format(folder)


def list_unsealed(folder: Path) -> tuple[str, ...]:
    """Files that are sealed when they are written, and are not: those of an older version, if it is one's run."""
    seals, _ = load_seals(folder)
    return tuple(file.name for file in _sealed_files(folder) if file.name not in seals)


def seal_older(folder: Path) -> None:
    """The files of an older version, as they are: from now on it shows when they are altered."""
    seal_files(_sealed_files(folder))


def _sealed_files(folder: Path) -> list[Path]:
    earlier = sorted(folder.glob("study.[0-9]*.toml"))
    return [file for file in (*(folder / name for name in MADE_BY), *earlier) if file.is_file()]
