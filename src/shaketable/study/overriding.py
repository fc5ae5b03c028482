"""`key=value`, as `--set` takes it → a value in the tables of a study."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import Any

from shaketable.errors import StudyError
from shaketable.study.tables.dataset import DatasetTable, dataset_tables


def override(tables: dict[str, Any], overrides: Sequence[str]) -> None:
    """Put `key=value` texts, as `--set` takes them, into the tables of a study."""
    for text in overrides:
        _override(tables, text)


def _override(tables: dict[str, Any], override: str) -> None:
    key, equals, value = override.partition("=")
    if not equals or not key.strip():
        raise StudyError(f"--set {override}: write KEY=VALUE, such as --set generation.max_tokens=48.")
    *path, last = key.strip().split(".")
    for table in dataset_tables(tables) if path[:1] == ["dataset"] else [tables]:
        inner = table
        for step in path[1:] if path[:1] == ["dataset"] else path:
            inner = inner.setdefault(step, {})
            if not isinstance(inner, dict):
                raise StudyError(f"--set {override}: '{step}' is a value, not a table of the study.")
        if path == ["dataset"] and last == "name":
            _forget_loader(inner, value)
        inner[last] = _parse_value(value)


def _forget_loader(table: dict[str, Any], name: str) -> None:
    """Settings of one loader mean nothing to another, such as the part of the built-in data."""
    if table.get("name", "builtin") != name:
        for key in table.keys() - DatasetTable.model_fields.keys() - {"path"}:
            del table[key]


def _parse_value(text: str) -> Any:
    """A TOML value; a bare word is a string."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text
