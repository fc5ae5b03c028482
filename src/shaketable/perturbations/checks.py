"""Settings that make sense, or a sentence that says which would."""

from __future__ import annotations

from typing import Any, get_args


def check_choice(setting: str, value: str, allowed: Any) -> None:
    """`allowed` is a Literal type."""
    if value not in get_args(allowed):
        raise ValueError(f"{setting} is {value!r}, expected one of {', '.join(get_args(allowed))}")


def check_count(setting: str, value: int, least: int = 0) -> None:
    if value < least:
        raise ValueError(f"{setting} is {value}, expected {least} or more")


def check_share(setting: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"{setting} is {value}, expected a share from 0 to 1")
