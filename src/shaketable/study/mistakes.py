"""What is wrong with a study file, in a sentence that says where, and what to write."""

from __future__ import annotations

import math
from typing import Any

from shaketable.errors import StudyError, did_you_mean
from shaketable.study.schema import TABLES

DEEPEST = 50
"""Tables in tables; a study has four at most."""


def refuse_unusable(value: Any, where: str, name: str = "", depth: int = 0) -> None:
    """TOML's whole numbers have 64 bits; Python reads longer ones, which no table or database holds. `nan` equals
    nothing, itself neither: a study that holds it would never be found the same again. Half a character comes in by
    `--set` and cannot be written."""
    if isinstance(value, dict | list):
        if depth > DEEPEST:
            place = f"{where}, {name}"[:200]
            raise StudyError(
                f"{place}…: tables or lists stand in one another, more than {DEEPEST} deep. Take them out."
            )
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            step_name = f"{name}[{step}]" if isinstance(value, list) else f"{name}.{step}".lstrip(".")
            if isinstance(step, str):
                refuse_unusable(step, where, name)
            refuse_unusable(inner, where, step_name, depth + 1)
    elif isinstance(value, str) and not _is_utf8(value):
        place = f"{where}, {name}".removesuffix(", ")
        raise StudyError(f"{place}: found {value!r:.80}, with half a character in it. Take it out.")
    elif isinstance(value, float) and math.isnan(value):
        raise StudyError(f"{where}, {name}: found nan, which is no number. Give one, or leave the key out.")
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise StudyError(
            f"{where}, {name}: found a whole number beyond 64 bits, which TOML has none of. Give a smaller one."
        )


def explain(problem: Any, where: str) -> str:
    """What pydantic found, as a sentence."""
    steps = [step for step in problem["loc"] if step not in ("list", "table", "number")]
    names = tuple(step for step in steps if isinstance(step, str))
    written = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).lstrip(".")
    location = f"{where}, {written}" if written else where
    if problem["type"] == "extra_forbidden":
        known = _keys(names[:-1])
        return f"{location}: unknown key '{names[-1]}'.{did_you_mean(names[-1], known)} Known keys: {', '.join(known)}."
    if problem["type"] == "missing":
        return f"{location}: this key is missing. Add it to the study."
    if problem["type"] == "model_type":
        known = _keys(names)
        return f"{location}: found {problem['input']!r}; write a table with the keys {', '.join(known)}."
    return f"{location}: found {problem['input']!r}; {problem['msg'][0].lower()}{problem['msg'][1:]}."


def _keys(names: tuple[str, ...]) -> list[str]:
    """The keys of the table that stands there; a model's own name is no place of its own."""
    table = TABLES[names[:2] if names[:2] == ("generation", "models") else names]
    return [field.alias or name for name, field in table.model_fields.items()]


def _is_utf8(text: str) -> bool:
    """Whether it can be written."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
