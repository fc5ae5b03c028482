"""A part as an object, or a function → how a study writes it; what has no text is brought into the catalog first."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import types
from pathlib import Path

from shaketable import catalog
from shaketable.errors import PartError, StudyError
from shaketable.protocols import CalledPart, Part
from shaketable.stages.own import registering
from shaketable.stages.own.bringing import register_class
from shaketable.stages.own.source import origin_of, source_digest

REGISTER = {
    "model": registering.pipeline,
    "method": registering.method,
    "retriever": registering.retriever,
    "perturbation": registering.perturbation,
    "variation": registering.variation,
    "metric": registering.metric,
    "analysis": registering.analysis,
}


def text_of(kind: str, given: object, where: str) -> str:
    """A text is itself; a part is its name and settings; a function is the part that it is registered as."""
    if isinstance(given, str):
        return given
    if kind not in REGISTER:
        raise StudyError(f"{where} is {type(given).__name__}; give a text.")
    try:
        if dataclasses.is_dataclass(given) and not isinstance(given, type):
            return _text_of_part(kind, given)  # type: ignore[arg-type]
        if isinstance(given, functools.partial) and not given.args:
            return catalog.write(_name_of(kind, given.func), given.keywords)
        return _name_of(kind, given)
    except PartError as error:
        raise PartError(f"{where}: {error}") from error


def _name_of(kind: str, given: object) -> str:
    """Under which it is registered; it is registered now where it is not yet."""
    for name, part in catalog.registered(kind).items():
        if part.made_of is given or part.target is given:
            return name
    if inspect.isclass(given):
        catalogued = [name for name in catalog.known(kind) if catalog.find(kind, name) is given]
        if catalogued:
            return catalogued[0]
    if kind == "model" and isinstance(given, types.FunctionType) and (file := _importable(given)):
        return f"pipeline(python={file!r})"
    if kind != "model" and not callable(given):
        raise PartError(f"this is {type(given).__name__} {given!r:.60}; give a text, a {kind} or a function.")
    REGISTER[kind](given)
    return next(name for name, part in catalog.registered(kind).items() if part.made_of is given)


def _importable(function: types.FunctionType) -> str:
    """`app.py:answer` of a function that another process can import, where it is contained; empty: it cannot."""
    module = inspect.getmodule(function)
    if module is None or module.__name__ == "__main__" or function.__qualname__ != function.__name__:
        return ""
    if vars(module).get(function.__name__) is not function:
        return ""
    if "." in module.__name__:
        return f"{module.__name__}:{function.__name__}"
    file = Path(inspect.getfile(function))
    return f"{file.absolute()}:{function.__name__}" if file.is_file() else ""


def _text_of_part(kind: str, part: Part) -> str:
    part_class, name = type(part), catalog.name_of(part)
    if name in catalog.known(kind):
        if not isinstance(part, catalog.find(kind, name)):
            raise PartError(
                f"{part_class.__name__} would be the {kind} '{name}', which is another. Rename the class, or register "
                f"it by another name: @shaketable.{kind}(name='my_{name}')."
            )
    else:
        register_class(kind, part_class)
    differing = _differing(part)
    held = {setting: value for setting, value in differing.items() if not _is_literal(value)}
    if held:
        _hold(kind, part, held)
    settings = {setting: value for setting, value in differing.items() if setting not in held}
    if isinstance(part, CalledPart):
        settings["name"] = part.given_name
    return catalog.write(name, settings)


def _differing(part: Part) -> dict[str, object]:
    """All that was given to it and is not its default, also what keys leave out."""
    differing: dict[str, object] = {}
    for field in dataclasses.fields(part):  # type: ignore[arg-type]
        value = getattr(part, field.name)
        default = field.default_factory() if callable(field.default_factory) else field.default
        if field.init and (default is dataclasses.MISSING or not _is_equal(value, default)):
            differing[field.name] = value
    return differing


def _is_equal(value: object, default: object) -> bool:
    return type(value) is type(default) and bool(value == default)


def _is_literal(value: object) -> bool:
    try:
        return bool(ast.literal_eval(repr(value)) == value)
    except (ValueError, SyntaxError):
        return False


def _hold(kind: str, part: Part, held: dict[str, object]) -> None:
    """A class whose defaults are the values that no text has, in the place of the part's own. They count by their
    types alone."""
    part_class, name = type(part), catalog.name_of(part)
    if name not in catalog.registered(kind):
        register_class(kind, part_class)
    fields = [
        (setting, object, dataclasses.field(default_factory=functools.partial(_same, value), compare=False, repr=False))
        for setting, value in held.items()
    ]
    before = catalog.registered(kind)[name]
    kinds = sorted((setting, type(value).__qualname__) for setting, value in held.items())
    digest = source_digest(part_class, repr(kinds), "")
    more = {"__module__": part_class.__module__, "__doc__": part_class.__doc__, "name": name, "source_digest": digest}
    made = dataclasses.make_dataclass(
        part_class.__name__, fields, bases=(part_class,), frozen=True, kw_only=True, namespace=more
    )
    origin = origin_of(part_class)
    catalog.register(
        kind,
        name,
        catalog.Registered(target=made, made_of=before.made_of, origin=before.origin or origin, source_digest=digest),
    )


def _same(value: object) -> object:
    return value
