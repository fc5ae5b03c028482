"""The parameters of a function → what it is given by name, and the settings that a study writes."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from shaketable.errors import PartError, did_you_mean

Function = Callable[..., Any]
NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
FIRST = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, kw_only=True, slots=True)
class Signature:
    first: str
    """The name of its first parameter."""
    takes: frozenset[str]
    """What it is given by name, beside the first."""
    settings: tuple[tuple[str, Any, dataclasses.Field[Any]], ...]
    """Name, type and field of each."""


def read_signature(function: Function, kind: str, first: str, given: Sequence[str]) -> Signature:
    """`first` says what the first parameter is; `given` are the names that are filled in. All others are settings."""
    name = function.__name__
    parameters = list(inspect.signature(function).parameters.values())
    listed = f"{name}({', '.join(map(str, parameters))})"
    if not parameters or parameters[0].kind not in FIRST:
        raise PartError(f"{listed} takes nothing. The first parameter of a {kind} is {first}.")
    takes, settings = [], []
    hints = _hints(function)
    for parameter in parameters[1:]:
        if parameter.kind not in NAMED:
            raise PartError(f"{listed}: write out what it takes instead of '{parameter}': a study names each setting.")
        if parameter.name in given:
            takes.append(parameter.name)
        elif parameter.default is inspect.Parameter.empty:
            raise PartError(
                f"{listed}: nothing gives '{parameter.name}'.{did_you_mean(parameter.name, given)} A {kind} is given "
                f"{', '.join((first, *given))}. Any other parameter is a setting, and needs a default value."
            )
        else:
            settings.append(_setting(parameter, hints, listed))
    return Signature(first=parameters[0].name, takes=frozenset(takes), settings=tuple(settings))


def _setting(
    parameter: inspect.Parameter, hints: dict[str, Any], listed: str
) -> tuple[str, Any, dataclasses.Field[Any]]:
    default = parameter.default
    try:
        is_literal = ast.literal_eval(repr(default)) == default
    except (ValueError, SyntaxError):
        is_literal = False
    if not is_literal or isinstance(default, list | dict | set):
        raise PartError(
            f"{listed}: the default of '{parameter.name}' is {default!r:.60}, which a study cannot write. Settings are "
            "numbers, texts, True, False, None and tuples of them; keep anything else inside the function."
        )
    kind = hints.get(parameter.name, object if default is None else type(default))
    return parameter.name, kind, dataclasses.field(default=default)


def _hints(function: Function) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except (NameError, TypeError, AttributeError):  # It may name types that it imports for type checkers alone.
        return {}
