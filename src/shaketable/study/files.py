"""Where studies lie: in files, in the folders of runs, with the package; and what they name beside themselves."""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path
from typing import Any

from shaketable import catalog
from shaketable.errors import PartError, StudyError, at_home, describe_encoding, did_you_mean
from shaketable.study.tables.dataset import dataset_tables

SHIPPED = resources.files("shaketable") / "resources" / "studies"


def shipped_studies() -> list[str]:
    """By name; those with all settings of the published studies as `published/NAME`."""
    return [
        f"{prefix}{entry.name.removesuffix('.toml')}"
        for prefix, folder in (("", SHIPPED), ("published/", SHIPPED / "published"))
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".toml")
    ]


def is_of_run(path: Path) -> bool:
    """Whether it is the study of a run, or one that the run had before it was extended."""
    folder = path if path.is_dir() else path.parent
    is_its = path.is_dir() or path.name.startswith("study.")
    return is_its and any((folder / name).is_file() for name in ("records.sqlite", ".lock"))


def read_study(path: str | Path) -> tuple[str, str]:
    """What messages call it, and its text; the folder of a run stands for the study in it."""
    file = Path(path)
    if file.is_dir() and (file / "study.toml").is_file():
        file = file / "study.toml"
    if file.is_file():
        try:
            return str(path), file.read_text("utf-8")
        except UnicodeDecodeError as error:
            raise StudyError(describe_encoding(error, str(path))) from error
    shipped = SHIPPED / f"{path}.toml"
    if shipped.is_file():
        return f"{path}.toml", shipped.read_text("utf-8")
    names = shipped_studies()
    near = did_you_mean(Path(path).stem, names)
    raise StudyError(
        f"No study file {path}.{near} Give the path of a TOML file, or a study that ships: {', '.join(names)}."
    )


STARTED_IN = re.compile(r"# Relative paths start at (\".*\")\n")


def note_folder(text: str, folder: Path) -> str:
    """Return the study of a run with the folder, from which its relative paths start, in its first line."""
    return f"# Relative paths start at {json.dumps(str(folder))}\n{text}"


def without_folder(text: str) -> str:
    """Return the study of a run without the line that names a folder of this machine."""
    return text[noted.end() :] if (noted := STARTED_IN.match(text)) else text


def folder_noted(text: str) -> Path | None:
    """Return the folder in which the run of this study was started; None: it is no run's study."""
    noted = STARTED_IN.match(text)
    return None if noted is None else Path(json.loads(noted[1]))


def resolve_paths(tables: dict[str, Any], study_path: Path) -> None:
    """A dataset path may be relative to the working folder or to the study; a run keeps the absolute one."""
    for table in dataset_tables(tables):
        if isinstance(table.get("path"), str):
            given = Path(table["path"])
            table["path"] = str(_beside(given, study_path) or at_home(given, StudyError, study_path).absolute())
    cross = tables.get("cross")
    if isinstance(cross, dict) and isinstance(cross.get("retrievers"), list):
        cross["retrievers"] = [_with_corpus(text, study_path) for text in cross["retrievers"]]


def _with_corpus(retriever: Any, study_path: Path) -> Any:
    """The same with the corpus that lies beside the study, where none lies in the working folder under that name."""
    try:
        name, settings = catalog.parse(retriever)
    except (PartError, AttributeError):
        return retriever  # The plan says what is wrong with it, as with any part.
    corpus = settings.get("corpus")
    beside = _beside(Path(corpus), study_path) if isinstance(corpus, str) else None
    return retriever if beside is None else catalog.write(name, {**settings, "corpus": str(beside)})


def _beside(given: Path, study_path: Path) -> Path | None:
    """What lies under this name beside the study, where nothing does in the working folder."""
    try:
        beside = study_path.parent / given
        return beside.absolute() if not at_home(given, StudyError, study_path).exists() and beside.exists() else None
    except OSError as error:  # A name that is too long, or a folder that may not be looked into.
        raise StudyError(f"{study_path}: {str(given)[:80]} cannot be looked up: {error.strerror}.") from error
