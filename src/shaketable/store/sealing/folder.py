"""The files of a run beside its records, compared with their seals."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from shaketable.store.sealing.files import NAME, is_as_sealed, load_seals

SEALED = ("study.toml", "scores.parquet", "baselines.parquet", "findings.json", "explanations.json", "headlines.json")
MADE_BY = {
    "study.toml": "restore it from a copy",
    "scores.parquet": "make it anew: shaketable score {}",
    "baselines.parquet": "make it anew: shaketable score {}",
    "findings.json": "make it anew: shaketable analyze {}",
    "explanations.json": "delete it, and explain again",
    "headlines.json": "make it anew: shaketable report {}",
    "report.html": "make it anew: shaketable report {}",
}
"""What helps against an altered file."""


def find_altered_files(folder: Path) -> Iterator[str]:
    """A sentence for each file that is not as it was written."""
    seals, n_unread = load_seals(folder)
    if not (folder / NAME).is_file():
        yield f"{NAME} is missing: whether files beside the records were altered cannot be told"
    if n_unread:
        yield f"{NAME}: {n_unread} of its lines cannot be read"
    for name in sorted(seals):
        helps = MADE_BY.get(name, "restore it from a copy").format(folder)
        if not (folder / name).is_file():
            yield f"{name} is missing: {helps}"
        elif not is_as_sealed(folder / name):
            yield f"{name} was altered after it was written: {helps}"


def list_unsealed(folder: Path) -> tuple[str, ...]:
    """Files that an older version wrote, and that nothing is known of."""
    seals, _ = load_seals(folder)
    return tuple(name for name in SEALED if (folder / name).is_file() and name not in seals)
