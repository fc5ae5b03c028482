"""The name of a dataset on the data hub, or a folder of the same layout → the files of one of its splits."""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from shaketable.errors import DataError, did_you_mean, need_packages
from shaketable.weights import is_offline

LAYOUTS = (".parquet", ".jsonl", ".csv", ".tsv", ".json")
"""How files of rows end, the better one first; each also with `.gz`."""
SPLITS = ("validation", "dev", "test", "train")
"""What is taken where no split is named: the first that has answers as a rule, and is small."""
NO_ROWS = ("dataset_infos.json", "dataset_dict.json", "dataset_info.json", "state.json", "config.json", "package.json")
HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
NO_CONFIGURATION = ("", "data", "default")
"""Folders that are no name of a part of the dataset."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Chosen:
    """Files of one split of one configuration."""

    names: tuple[str, ...]
    configuration: str | None
    split: str | None
    """None: the names of the files tell of no split."""


def is_hub_name(text: str) -> bool:
    """Whether a text may name a dataset on the hub: `owner/name`, and nothing on this machine."""
    return HUB_NAME.fullmatch(text) is not None and not Path(text).exists()


def fetch(hub: str, patterns: Sequence[str]) -> Path:
    """The folder with those files of a dataset on the hub that match; kept by the hub's client."""
    need_packages(f"The data hub '{hub}'", "huggingface_hub")
    from huggingface_hub import snapshot_download

    try:
        with _quiet():
            folder = snapshot_download(
                hub, repo_type="dataset", allow_patterns=list(patterns), local_files_only=is_offline()
            )
        return Path(folder)
    except Exception as error:  # the client has many ways to fail, and all of them end here
        raise DataError(_unreachable(hub, error)) from error


def hub_files(hub: str, configuration: str | None = None, split: str | None = None) -> tuple[list[Path], Chosen]:
    """The files of a split on the hub, and which they are. Others are not fetched."""
    chosen = choose_files(_listed(hub), hub, configuration, split)
    folder = fetch(hub, chosen.names)
    return [folder / name for name in chosen.names], chosen


def folder_files(folder: Path, configuration: str | None = None, split: str | None = None) -> tuple[list[Path], Chosen]:
    """The same of a folder on this machine."""
    names = [file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()]
    chosen = choose_files(names, folder.name or str(folder), configuration, split)
    return [folder / name for name in chosen.names], chosen


def choose_files(names: Sequence[str], where: str, configuration: str | None, split: str | None) -> Chosen:
    """Of one layout, one configuration and one split; what cannot be decided is an error that names the choices."""
    tables = sorted(name for name in names if _layout(name) is not None and not _is_hidden(name))
    if not tables:
        raise DataError(f"{where} has no files of rows. Expected one that ends in {', '.join(LAYOUTS)}.")
    best = min((_layout(name) or "" for name in tables), key=LAYOUTS.index)
    tables = [name for name in tables if _layout(name) == best]
    configurations = sorted({_configuration(name) for name in tables})
    own = _one_configuration(configurations, where, configuration)
    tables = [name for name in tables if _configuration(name) == own]
    splits = {name: _split(name) for name in tables}
    wanted = split or next((known for known in SPLITS if known in splits.values()), None)
    if split is not None and split not in splits.values():
        known = sorted({found for found in splits.values() if found})
        raise DataError(
            f"{where} has no split '{split}'.{did_you_mean(split, known)} Splits: {', '.join(known) or 'none'}."
        )
    chosen = [name for name in tables if splits[name] == wanted]
    if wanted is None and len(chosen) > 1:
        listed = ", ".join(chosen[:8])
        raise DataError(f"{where} has {len(chosen)} files of rows: {listed}. Give the path of one of them.")
    return Chosen(names=tuple(chosen), configuration=own or None, split=wanted)


def _one_configuration(configurations: Sequence[str], where: str, wanted: str | None) -> str:
    if wanted is not None:
        if wanted not in configurations:
            hint = did_you_mean(wanted, configurations)
            listed = ", ".join(filter(None, configurations)) or "none"
            raise DataError(f"{where} has no configuration '{wanted}'.{hint} Configurations: {listed}.")
        return wanted
    usual = next((name for name in NO_CONFIGURATION if name in configurations), None)
    if usual is not None:
        return usual
    if len(configurations) > 1:
        raise DataError(
            f"{where} has several configurations: {', '.join(configurations)}. Name one: "
            f"configuration = '{configurations[0]}'."
        )
    return configurations[0]


def _layout(name: str) -> str | None:
    path = PurePosixPath(name.casefold().removesuffix(".gz"))
    return path.suffix if path.suffix in LAYOUTS and path.name not in NO_ROWS else None


def _is_hidden(name: str) -> bool:
    return any(step.startswith(".") for step in PurePosixPath(name).parts)


def _configuration(name: str) -> str:
    """The first folder; a folder `data`, or one that is named like a split, is none."""
    steps = PurePosixPath(name).parts[:-1]
    return "" if not steps or steps[0] in ("data", *SPLITS) else steps[0]


def _split(name: str) -> str | None:
    words = re.split(r"[\W_]+", name.casefold())
    return next((split for split in SPLITS if split in words), "validation" if "val" in words else None)


def _listed(hub: str) -> list[str]:
    """The files of a dataset, as the hub tells; without network those that were fetched before."""
    try:
        from huggingface_hub import HfApi
    except ImportError as error:
        raise DataError(f"The data hub '{hub}' needs its client: pip install 'shaketable[hub]'.") from error
    if is_offline():
        folder = fetch(hub, ["*"])
        return [file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()]
    try:
        with _quiet():
            return list(HfApi().list_repo_files(hub, repo_type="dataset"))
    except Exception as error:  # as above
        raise DataError(_unreachable(hub, error)) from error


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """The client tells each of its attempts; one sentence at the end says it all."""
    log = logging.getLogger("huggingface_hub")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)


def _unreachable(hub: str, error: Exception) -> str:
    reason = "SHAKETABLE_OFFLINE is set" if is_offline() else type(error).__name__
    return (
        f"'{hub}' could not be read from the data hub ({reason}). Check the name and the network, give the path of a "
        "file, or use the dataset 'builtin'."
    )
