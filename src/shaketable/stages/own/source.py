"""A function or class → where it is written, and the digest of its code: what keys know of it."""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
from collections.abc import Iterator
from pathlib import Path

from shaketable.errors import PartError
from shaketable.identity import digest

PLAIN = (str, bytes, int, float, complex, bool, type(None))
"""Constants whose text is their value."""


class Unreadable(Exception):  # noqa: N818 (it says what is the matter)
    """What of the code cannot be read, in words."""


def origin_of(target: object) -> str:
    """`robustness.py: strict`; of a notebook, which has no file of its own, `notebook: strict`."""
    own_name = _text(target, "__qualname__")
    file = _text(inspect.getmodule(target if own_name else type(target)), "__file__")
    return f"{Path(file).name if file else 'a notebook or prompt'}: {own_name or type(target).__name__}"


def source_digest(target: object, version: int | str | None, how: str) -> str:
    """Of the code and of what it uses of its own module; of the version alone where its author gives one and the code
    cannot be read. `how` is how the version is given."""
    name = _text(target, "__qualname__") or type(target).__name__
    try:
        code = _code_of_class(target) if inspect.isclass(target) else _code(target, set())
    except Unreadable as error:
        if version is None:
            raise PartError(
                f"The code of '{name}' cannot be told apart from other code: {error}. Keys of a run must know it. Give "
                f"a version, and raise it when the code changes: {how}."
            ) from error
        return digest([name, version])
    return digest([code, version])


def _code_of_class(target: type) -> list[object]:
    """Its functions, and its constants: a class of a notebook has no text of its own."""
    code: list[object] = []
    for name, value in vars(target).items():
        function = _plain_function(value)
        if function is not None and function.__module__ == target.__module__:
            if "<string>" not in function.__code__.co_filename:  # What the decorator of dataclasses makes.
                code.append([name, _code(function, set())])
        elif not name.startswith("__") and _is_constant(value):
            code.append([name, repr(value)])
    if not code:
        raise Unreadable(f"the class {target.__qualname__} has no function of its own")
    return code


def _plain_function(value: object) -> types.FunctionType | None:
    inner: object = value
    if isinstance(value, staticmethod | classmethod):
        inner = value.__func__
    elif isinstance(value, property):
        inner = value.fget
    function = inspect.unwrap(inner) if callable(inner) else inner
    return function if isinstance(function, types.FunctionType) else None


def _code(target: object, seen: set[object]) -> list[object]:
    """The text of a function, and of the functions and constants of its module that it names."""
    function = inspect.unwrap(target) if callable(target) else target
    if not isinstance(function, types.FunctionType):
        raise Unreadable(f"{type(target).__name__} is no function with a text of its own")
    seen.add(function)
    used: list[object] = [_text_of(function)]
    for name, value in _used(function):
        if isinstance(value, types.FunctionType):
            if value not in seen and value.__module__ == function.__module__:
                used.append([name, _code(value, seen)])
        elif _is_constant(value):
            used.append([name, repr(value)])
        elif name in function.__code__.co_freevars:
            raise Unreadable(f"it uses '{name}' of the function around it, which is {type(value).__name__}")
    return used


def _text_of(function: types.FunctionType) -> str:
    """Without its decorators, which say how it is registered and not what it does."""
    try:
        text = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError) as error:
        raise Unreadable("it was typed at a prompt, or made by a program") from error
    try:
        [node] = ast.parse(text).body
    except (SyntaxError, ValueError):  # A lambda stands within a statement.
        return text
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return "\n".join(text.splitlines()[node.lineno - 1 : node.end_lineno])
    return text


def _used(function: types.FunctionType) -> Iterator[tuple[str, object]]:
    """What it names of its module and of the function around it."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # Itself, before it is bound.
            continue
    for name in sorted(_names(function.__code__)):
        if name in function.__globals__:
            yield name, function.__globals__[name]


def _names(code: types.CodeType) -> set[str]:
    inner = (one for one in code.co_consts if isinstance(one, types.CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _is_constant(value: object) -> bool:
    if isinstance(value, tuple | frozenset):
        return all(map(_is_constant, value))
    return isinstance(value, PLAIN)


def _text(value: object, name: str) -> str:
    text = getattr(value, name, None)
    return text if isinstance(text, str) else ""
