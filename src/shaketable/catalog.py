"""`name(setting=value)` → part, and back. Each folder lists its own names in its `CATALOG`."""

from __future__ import annotations

import ast
import copy
import dataclasses
import functools
import importlib
import importlib.metadata
import inspect
import math
import typing
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, overload

from pydantic import TypeAdapter, ValidationError

from shaketable.errors import PartError, SecretError, did_you_mean, how_to_name_model
from shaketable.errors import lacks_packages as missing_packages
from shaketable.protocols import (
    CalledPart,
    FileReadingPart,
    Loader,
    Method,
    Metric,
    Model,
    NamedPart,
    OwnTextPart,
    PackagePart,
    Part,
    Perturbation,
    PromptingPart,
    RenamedSettings,
    Retriever,
    SourcePart,
    Variation,
)

KINDS = {
    "dataset": "datasets",
    "variation": "variations",
    "perturbation": "perturbations",
    "retriever": "retrievers",
    "model": "models",
    "method": "methods",
    "metric": "metrics",
    "analysis": "analyses",
    "section": "report.sections",
}
CALLED = ("model", "method", "retriever")
"""The kinds whose parts may be given a name: what makes a system."""
LONGEST_NAME = 60
FILE_TEXTS = "file_texts"
"""The setting in which a part keeps the texts of the files that its other settings name."""

AnyPart = TypeVar("AnyPart", bound=Part)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Registered:
    """A part that a script or notebook brings into this process."""

    target: Any
    """The class or function behind the name."""
    made_of: object
    """What was handed over: the function that a class was made of, or the same."""
    origin: str
    """Where it is written: file or notebook, and its name there."""
    source_digest: str
    """Of its code, or of the version that its author gives where the code cannot be read."""


_REGISTERED: dict[str, dict[str, Registered]] = {kind: {} for kind in KINDS}
_BROUGHT: list[str] = []
"""The names of all that were registered, also of those that were replaced since."""
_ELSEWHERE: dict[tuple[str, str], str] = {}
"""Kind and name of a part that a run was made with → where another process registered it."""


def known(kind: str) -> Mapping[str, str]:
    """Name → `module:object`, of this package, of every package that offers `shaketable.<folder>`, and of this process.

    >>> known("metric")["exact_match"]
    'shaketable.metrics.exact_match:ExactMatch'
    """
    own = {name: registered.origin for name, registered in _REGISTERED[kind].items()}
    return _installed(kind) if not own else dict(_installed(kind)) | own


def registered(kind: str) -> Mapping[str, Registered]:
    """The parts of one kind that are in this process alone, by name."""
    return _REGISTERED[kind]


def register(kind: str, name: str, part: Registered) -> None:
    """Bring a part into this process. The same place again, such as a notebook's cell, replaces what it brought."""
    plural = KINDS[kind].rpartition(".")[2]
    if not name.isidentifier() or name in ("None", "True", "False"):
        raise PartError(f"A {kind} cannot be named '{name}'. Give a name of letters, digits and underscores: name='…'.")
    if name in _installed(kind):
        raise PartError(
            f"There is a {kind} '{name}' already ({_installed(kind)[name]}). Give yours another: name='my_{name}'. "
            f"Known {plural}: {', '.join(_installed(kind))}."
        )
    before = _REGISTERED[kind].get(name)
    if before is not None and before.origin != part.origin:
        raise PartError(
            f"{part.origin}: a {kind} '{name}' is registered already, by {before.origin}. Give each its own name: "
            f"name='other_{name}'."
        )
    _REGISTERED[kind][name] = part
    _BROUGHT.append(name)


def registrations() -> int:
    """How often a part was brought so far: what is remembered of parts by name is out of date when it grows."""
    return len(_BROUGHT)


def tell_elsewhere(kind: str, name: str, origin: str) -> None:
    """Remember, for the words of an error, where another process registered a part."""
    _ELSEWHERE[kind, name] = origin


@functools.cache
def _installed(kind: str) -> Mapping[str, str]:
    folder = KINDS[kind]
    names: dict[str, str] = {
        name: f"shaketable.{folder}.{target}"
        for name, target in importlib.import_module(f"shaketable.{folder}").CATALOG.items()
    }
    for point in importlib.metadata.entry_points(group=f"shaketable.{folder.rpartition('.')[2]}"):
        names.setdefault(point.name, point.value)
    return names if kind == "section" else dict(sorted(names.items()))  # Sections have an order of their own.


@overload
def find(kind: Literal["dataset"], name: str, where: str = "") -> Loader: ...
@overload
def find(kind: Literal["metric"], name: str, where: str = "") -> type[Metric]: ...
@overload
def find(kind: str, name: str, where: str = "") -> Any: ...
def find(kind: str, name: str, where: str = "") -> Any:
    """The class or function behind a name."""
    names = known(kind)
    if name not in names:
        if (kind, name) in _ELSEWHERE:
            raise PartError(_not_in_this_process(kind, name, where))
        plural = KINDS[kind]
        hint = did_you_mean(name, names) or (how_to_name_model(name) if kind == "model" else "")
        raise PartError(f"{_prefix(where)}Unknown {kind} '{name}'.{hint} Known {plural}: {', '.join(names)}.")
    if name in _REGISTERED[kind]:
        return _REGISTERED[kind][name].target
    module, _, attribute = names[name].partition(":")
    return getattr(importlib.import_module(module), attribute)


def _not_in_this_process(kind: str, name: str, where: str) -> str:
    return (
        f"{_prefix(where)}the {kind} '{name}' is not in this process. The run was made with {_ELSEWHERE[kind, name]}, "
        "which has not run here. Go on with the run from there; its records, scores and report can be read anywhere."
    )


def parse(text: str) -> tuple[str, dict[str, Any]]:
    """`distractors(n=2, seed=0)` → (`distractors`, {n: 2, seed: 0}). Values are Python literals, whose texts may have
    line breaks: a prompt written into a study has."""
    for written_text in dict.fromkeys((text.strip(), text.strip().replace("\n", "\\n"))):
        try:
            with warnings.catch_warnings(action="ignore", category=SyntaxWarning):  # `1or 2` is refused in our words.
                tree = ast.parse(written_text, mode="eval").body
            if isinstance(tree, ast.Name):
                return tree.id, {}
            if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and not tree.args:
                settings = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in tree.keywords}
                if "None" not in settings:
                    write(tree.func.id, settings)  # A number of thousands of digits can be read, and not be written.
                    return tree.func.id, settings
        except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
            pass
    raise PartError(
        f"Cannot read the component '{text}'. Write name or name(setting=value), such as sentence_removal(seed=1)."
    )


@overload
def build(kind: Literal["variation"], text: str, where: str = "") -> Variation: ...
@overload
def build(kind: Literal["perturbation"], text: str, where: str = "") -> Perturbation: ...
@overload
def build(kind: Literal["retriever"], text: str, where: str = "") -> Retriever: ...
@overload
def build(kind: Literal["model"], text: str, where: str = "") -> Model: ...
@overload
def build(kind: Literal["method"], text: str, where: str = "") -> Method: ...
@overload
def build(kind: Literal["metric"], text: str, where: str = "") -> Metric: ...
@overload
def build(kind: str, text: str, where: str = "") -> Part: ...
def build(kind: str, text: str, where: str = "") -> Part:
    """The part a text names. Building is instant: weights and indexes come on first use.

    >>> build("metric", "contains(match='token')")
    Contains(match='token', scored='answer', aliases=True)
    """
    try:
        name, settings = parse(text)
    except PartError as error:
        hint = how_to_name_model(text) if kind == "model" else ""
        problem = f"'{text}' is no component.{hint}" if hint else str(error)
        raise PartError(f"{_prefix(where)}{problem}") from error
    text = write(name, {setting: value for setting, value in settings.items() if setting != FILE_TEXTS})
    part_class: type[Part] = find(kind, name, where)
    given_name = settings.pop("name", None) if _may_be_called(kind, part_class) else None
    wrong: PartError | None = None
    for setting, value in settings.items():
        _refuse_unknown(part_class, name, setting, where)
        try:
            settings[setting] = _typed(part_class, setting, value, f"{_prefix(where)}{name}")
        except PartError as error:
            wrong = wrong or error
    _refuse_missing(part_class, name, settings, where)
    try:
        part = part_class(**settings)
    except ValueError as error:  # The part's own words go before those about types.
        shown = name if isinstance(error, SecretError) else text
        raise PartError(f"{_prefix(where)}{shown}: {error}") from error
    except TypeError as error:
        raise wrong or PartError(f"{_prefix(where)}{text}: {error}") from error
    except AttributeError as error:  # Of a value that is not of the type which the part reads.
        raise wrong or error from error
    if wrong:
        raise wrong
    _refuse_endless(part, f"{_prefix(where)}{text}")
    return part if given_name is None else call(part, given_name, f"{_prefix(where)}{name}: ")


def hold_files(kind: str, text: str, read: Callable[[object], str | None]) -> str:
    """The text of a part with what is in the files that it names, so that it says the same wherever it is read.

    `read` gives the text behind a setting's value; None: the value names no file. What is held already is kept.
    """
    name, settings = parse(text)
    if name not in known(kind) or FILE_TEXTS not in [field.name for field in _fields(find(kind, name))]:
        return text
    texts = dict(settings.pop(FILE_TEXTS, {}))
    for setting, value in settings.items():
        if setting not in texts and (read_now := read(value)) is not None:
            texts[setting] = read_now
    return write(name, {**settings, FILE_TEXTS: texts}) if texts else text


def call(part: AnyPart, name: object, where: str = "") -> AnyPart:
    """The same part under a name that people give it. It stands in labels; keys do not know it."""
    if problem := _wrong_name(name):
        raise PartError(f"{where}name is {name!r}; {problem}. Give a short name of its own, such as name='prod'.")
    called = copy.copy(part)
    try:
        object.__setattr__(called, "given_name", name)
    except AttributeError:  # A class with slots has no room for a name; a class below it has.
        own = type(part)
        roomy = type(own.__name__, (own,), {"__module__": own.__module__, "__doc__": own.__doc__})
        called = roomy(**{field.name: getattr(part, field.name) for field in _fields(part) if field.init})
        object.__setattr__(called, "given_name", name)
    return called


def _may_be_called(kind: str, part_class: type[Part]) -> bool:
    """A part whose own settings have a `name` keeps that meaning."""
    return kind in CALLED and all(field.name != "name" for field in _fields(part_class))


def _wrong_name(name: object) -> str:
    """What is wrong with a name; empty: nothing."""
    if not isinstance(name, str):
        return "a name is a text"
    if not name.strip():
        return "a name is not empty"
    if name != name.strip() or not name.isprintable():
        return "a name has no line breaks, and no white space around it"
    if len(name) > LONGEST_NAME:
        return f"these are {len(name)} characters, and charts have room for {LONGEST_NAME}"
    first = name.partition("(")[0].strip()
    kind = next((kind for kind in CALLED if first in known(kind)), None)
    return f"'{first}' is a {kind} of the catalog, and would be taken for it" if kind else ""


def _refuse_unknown(part_class: type[Part], name: str, setting: str, where: str) -> None:
    if setting in [field.name for field in _fields(part_class)]:
        return
    known_settings = [field.name for field in listed_fields(part_class)]
    now = part_class.renamed.get(setting) if isinstance(part_class, RenamedSettings) else None
    hint = f" It is written {now} now." if now else did_you_mean(setting, known_settings)
    listed = ", ".join(known_settings) or "none"
    raise PartError(f"{_prefix(where)}{name} has no setting '{setting}'.{hint} Settings: {listed}.")


def _refuse_endless(part: Part, where: str) -> None:
    """A setting like 1e999 is written as `inf`, which no part's text can be read back from."""
    for setting, value in settings_of(part).items():
        if isinstance(value, float) and not math.isfinite(value):
            raise PartError(f"{where}: '{setting}' is {value}; expected a number that is finite.")


def _refuse_missing(part_class: type[Part], name: str, settings: Mapping[str, Any], where: str) -> None:
    missing = [
        field.name
        for field in _fields(part_class)
        if field.default is dataclasses.MISSING
        and field.default_factory is dataclasses.MISSING
        and field.name not in settings
    ]
    if missing:
        example = ", ".join(f"{setting}=…" for setting in missing)
        raise PartError(f"{_prefix(where)}{name} needs the setting {', '.join(missing)}: {name}({example}).")


def bind(kind: Literal["analysis"], text: str, where: str = "") -> functools.partial[object]:
    """The plain function a text names, with its settings filled in."""
    name, settings = parse(text)
    function = find(kind, name, where)
    known_settings = values_of(function)
    gathered = {setting: gathering for gathering in _gathering(function) for setting in _names(gathering.default)}
    given: dict[str, Any] = {}
    groups: dict[str, Any] = {}
    for setting, value in settings.items():
        if setting not in known_settings:
            listed = ", ".join(known_settings) or "none"
            raise PartError(
                f"{_prefix(where)}{name} has no setting '{setting}'.{did_you_mean(setting, known_settings)} "
                f"Settings: {listed}."
            )
        if (gathering := gathered.get(setting)) is None:
            given[setting] = _typed(function, setting, value, f"{_prefix(where)}{name}")
        else:
            typed = _typed(type(gathering.default), setting, value, f"{_prefix(where)}{name}")
            groups[gathering.name] = dataclasses.replace(
                groups.get(gathering.name, gathering.default), **{setting: typed}
            )
    return functools.partial(function, **given, **groups)


def typed_settings(function: Callable[..., object], settings: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The settings of a plain function as it declares them; what is of another type is named."""
    return {setting: _typed(function, setting, value, where) for setting, value in settings.items()}


def values_of(function: Callable[..., object]) -> dict[str, Any]:
    """Setting → default of a plain function, or value where it is bound.

    A parameter whose default is a dataclass gathers settings that several functions share: its fields are written as
    if they were the function's own.
    """
    values: dict[str, Any] = {}
    for parameter in _parameters(function):
        if dataclasses.is_dataclass(default := parameter.default):
            values |= {name: getattr(default, name) for name in _names(default)}
        else:
            values[parameter.name] = default
    return values


def _parameters(function: Callable[..., object]) -> list[inspect.Parameter]:
    """All but the first, which is what the function reads."""
    return list(inspect.signature(function).parameters.values())[1:]


def _gathering(function: Callable[..., object]) -> list[inspect.Parameter]:
    return [parameter for parameter in _parameters(function) if dataclasses.is_dataclass(parameter.default)]


def _names(gathered: Any) -> list[str]:
    return [field.name for field in dataclasses.fields(gathered)]


def name_of(part: Part) -> str:
    """The catalog name of a part: its class name in small letters with underscores, unless it says otherwise."""
    part_class = type(part)
    if isinstance(part_class, NamedPart) and isinstance(part_class.name, str):
        return part_class.name
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in part_class.__name__).lstrip("_")


def settings_of(part: Part) -> dict[str, Any]:
    """Every setting of a part that takes part in its identity, in order of declaration."""
    return {field.name: getattr(part, field.name) for field in _fields(part) if field.init and field.compare}


def lacks_packages(kind: str, part: Part) -> str | None:
    """Which packages a part needs that are not installed, and how to get them; None: it has all."""
    if not isinstance(part, PackagePart):
        return None
    name = name_of(part)
    return missing_packages(f"{kind.capitalize()} '{name}'", part.packages, extra=name)


def label(part: Part) -> str:
    """How people see a part: by the name they gave it, else as it is written."""
    return part.given_name if isinstance(part, CalledPart) else written(part)


def written(part: Part) -> str:
    """Name and the settings that differ from their defaults."""
    defaults = {
        field.name: field.default if field.default is not dataclasses.MISSING else _made_default(field)
        for field in _fields(part)
    }
    shown = {name: value for name, value in settings_of(part).items() if value != defaults[name]}
    return write(name_of(part), shown)


def spelled(part: Part) -> str:
    """How keys see a part: every setting, the version of its behavior, and the texts it prompts with.

    A setting that names a file counts by what is in the file, which the part tells by `contents`.
    """
    templates = part.prompts if isinstance(part, PromptingPart) else ()
    prompts = "".join(f"+{template.identity}" for template in templates)
    settings = {**settings_of(part), **(part.contents() if isinstance(part, FileReadingPart) else {})}
    for field in _fields(part):
        if field.metadata.get("in_key_when_given") and settings[field.name] == field.default:
            del settings[field.name]
    source = f"#{part.source_digest}" if isinstance(part, SourcePart) else ""
    return write(name_of(part), settings) + f"@{type(part).version}{source}{prompts}"


def describe(part: Part) -> dict[str, Any]:
    """Name, version and all settings as plain values, prompts of files as their texts, for the record of a run."""
    settings = settings_of(part) | dict(part.file_texts if isinstance(part, OwnTextPart) else {})
    settings |= {"source": part.source_digest} if isinstance(part, SourcePart) else {}
    return {"name": name_of(part), "version": type(part).version, "settings": ast.literal_eval(repr(settings))}


def _typed(owner: Any, setting: str, value: Any, where: str) -> Any:
    """The value as its field declares it: a list becomes a tuple, 1 becomes 1.0, a wrong type is named."""
    given = tuple(value) if isinstance(value, list) else value
    try:
        declared = typing.get_type_hints(owner)[setting]
    except (KeyError, NameError):  # A part of another package may name types that it imports for type checkers alone.
        return given
    try:
        return TypeAdapter(declared).validate_python(given, strict=True)
    except ValidationError as error:
        problem = error.errors()[0]["msg"]
        raise PartError(f"{where}: '{setting}' is {value!r}; {problem[0].lower()}{problem[1:]}.") from error


def write(name: str, settings: Mapping[str, Any]) -> str:
    """`name(setting=value)`."""
    written = ", ".join(f"{setting}={value!r}" for setting, value in settings.items())
    return f"{name}({written})" if written else name


def _fields(part: Part | type[Part]) -> tuple[dataclasses.Field[Any], ...]:
    """Parts are dataclasses, which a protocol cannot say."""
    assert dataclasses.is_dataclass(part), f"{part!r} is no dataclass"
    return dataclasses.fields(part)


def listed_fields(part: Any) -> tuple[dataclasses.Field[Any], ...]:
    """The settings that people write; others the program writes itself."""
    return tuple(field for field in _fields(part) if field.repr)


def _made_default(field: dataclasses.Field[Any]) -> Any:
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else dataclasses.MISSING


def _prefix(where: str) -> str:
    return f"{where}: " if where else ""


__all__ = [
    *(
        "CALLED",
        "KINDS",
        "Registered",
        "bind",
        "build",
        "call",
        "describe",
        "find",
        "hold_files",
        "known",
        "label",
        "lacks_packages",
        "listed_fields",
    ),
    *(
        "name_of",
        "parse",
        "register",
        "registered",
        "registrations",
        "settings_of",
        "spelled",
        "tell_elsewhere",
        "typed_settings",
        "values_of",
        "write",
        "written",
    ),
]
