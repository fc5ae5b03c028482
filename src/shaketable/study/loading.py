"""A study file (TOML), or one that ships → a Study, with overrides."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

from shaketable.errors import StudyError, resolve_from
from shaketable.study.files import folder_noted, is_of_run, read_study, resolve_paths
from shaketable.study.mistakes import refuse_unusable
from shaketable.study.overriding import override
from shaketable.study.parsing import parse_study
from shaketable.study.tables.dataset import dataset_tables
from shaketable.types import Study


def load_study(path: str | Path, overrides: Sequence[str] = (), limit: int | None = None) -> Study:
    """Read a study file, or a study that ships (by name), with `key=value` overrides.

    >>> import shaketable
    >>> study = shaketable.load_study("demo", ["cross.repeats=2"], limit=4)
    >>> study.name, study.repeats, study.datasets[0].limit
    ('demo', 2, 4)
    """
    where, text = read_study(path)
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # A number of thousands of digits, or thousands of brackets.
        reason = error if isinstance(error, tomllib.TOMLDecodeError) else "a number or a list in it is too long"
        raise StudyError(
            f"{where}: this is not TOML: {reason}. See the studies that ship: shaketable ls studies."
        ) from error
    resolve_from(folder_noted(text) if is_of_run(Path(path)) else None)
    override(tables, overrides)
    refuse_unusable(tables, where)
    if limit is not None:
        for table in dataset_tables(tables):
            table["limit"] = limit
    resolve_paths(tables, Path(path))
    is_renamed = any(given.partition("=")[0].strip() == "name" for given in overrides)
    return parse_study(tables, where, run_is_there=is_of_run(Path(path)) and not is_renamed)
