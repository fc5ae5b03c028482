"""The folder of a run: made for a study, or that of the same study to go on with."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from shaketable.errors import RunError
from shaketable.identity import canonical
from shaketable.study import format_study, load_study
from shaketable.types import Study

STUDY = "study.toml"
UNFINISHED = "study.tmp"
DONE_AGAIN = (
    *("metrics", "analyses", "reference", "reference_prompt", "main_metric", "margin", "confidence", "n_resamples"),
    "without_flags",
)
"""What of a study may change: it is done again on stored answers."""


def prepare_folder(folder: Path, study: Study) -> None:
    """Nothing is overwritten."""
    frozen = folder / STUDY
    if frozen.is_file():
        differing = _differences(load_study(frozen), study)
        if differing:
            raise RunError(
                f"{folder} holds the run of another study: {'; '.join(differing)}. Nothing was changed. "
                "Give another folder with --out, or go on with the old study: "
                f"shaketable run {frozen} --out {folder}."
            )
    elif folder.is_file():
        raise RunError(f"{folder} is a file, and a run is a folder. Give an empty or new folder with --out.")
    elif names := _strange_names(folder):
        raise RunError(
            f"{folder} is not empty and holds no run (found {', '.join(names[:3])}). "
            "Give an empty or new folder with --out."
        )
    folder.mkdir(parents=True, exist_ok=True)
    if not frozen.is_file() or load_study(frozen) != study:
        temporary = folder / UNFINISHED
        temporary.write_text(format_study(study), "utf-8")
        temporary.replace(frozen)


def _strange_names(folder: Path) -> list[str]:
    """What a new folder should not hold; half a study is left there by a run that was killed in its first moment."""
    return sorted(entry.name for entry in folder.iterdir() if entry.name != UNFINISHED) if folder.exists() else []


def _differences(frozen: Study, wanted: Study) -> list[str]:
    """Keys whose values differ."""
    names = [field.name for field in dataclasses.fields(Study) if field.name not in DONE_AGAIN]
    return [
        f"{name} was {canonical(getattr(frozen, name))}, now {canonical(getattr(wanted, name))}"
        for name in names
        if canonical(getattr(frozen, name)) != canonical(getattr(wanted, name))
    ]
