"""What the settings of a part mean, read from the sentence that stands under each field of its class."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import itertools
import re
from typing import Any

from shaketable import catalog

OF_ALL = {
    "name": "A name of your own, which stands in charts and tables: name='prod'.",
}
"""What the parts of a system take beside their own settings."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    name: str
    default: str | None
    """As it is written in a study; None: it must be given."""
    about: str
    """Empty: nothing is written about it."""


def settings_of(kind: str, part: Any) -> tuple[Setting, ...]:
    """Those that people write, in order."""
    if not dataclasses.is_dataclass(part):
        return _of_function(kind, part)
    words = _field_words(part)
    own = tuple(
        Setting(name=field.name, default=_default(field), about=words.get(field.name, ""))
        for field in catalog.listed_fields(part)
    )
    if kind not in catalog.CALLED or any(setting.name == "name" for setting in own):
        return own
    return (*own, *(Setting(name=name, default="None", about=about) for name, about in OF_ALL.items()))


def _default(field: dataclasses.Field[Any]) -> str | None:
    if field.default is not dataclasses.MISSING:
        return repr(field.default)
    return None if field.default_factory is dataclasses.MISSING else repr(field.default_factory())


def _field_words(part: Any) -> dict[str, str]:
    """The text under each field, of the class and of those that it builds on."""
    words: dict[str, str] = {}
    for owner in reversed(part.__mro__):
        if dataclasses.is_dataclass(owner) or owner.__module__.startswith("shaketable"):
            words |= _texts_below(owner)
    return words


def _texts_below(owner: type) -> dict[str, str]:
    try:
        source = inspect.getsource(owner)
    except (OSError, TypeError):  # Of a notebook or an interpreter there may be no text.
        return {}
    body = ast.parse(inspect.cleandoc(source) if source[:1].isspace() else source).body[0]
    statements = body.body if isinstance(body, ast.ClassDef) else []
    found = {}
    for field, below in itertools.pairwise(statements):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and _is_text(below):
            found[field.target.id] = " ".join(ast.literal_eval(below.value).split())  # type: ignore[attr-defined]
    return found


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _of_function(kind: str, function: Any) -> tuple[Setting, ...]:
    """A loader or an analysis: its docstring tells of settings as `name`: what it is."""
    told = inspect.getdoc(function) or ""
    if kind == "analysis":
        values = catalog.values_of(function)
        return tuple(Setting(name=name, default=repr(value), about=_told(told, name)) for name, value in values.items())
    parameters = inspect.signature(function).parameters.values()
    return tuple(
        Setting(
            name=given.name,
            default=None if given.default is given.empty else repr(given.default),
            about=_told(told, given.name),
        )
        for given in parameters
    )


def _told(text: str, name: str) -> str:
    """The first sentence of the clause about a setting, `name`: what it is. A sentence that only mentions it tells of
    something else."""
    clause = re.search(rf"`{re.escape(name)}`:\s*(.+?)(?=\s*`\w+`:|\n\n|$)", text, re.DOTALL)
    if clause is None:
        return ""
    first = re.split(r"(?<=\.)\s+", " ".join(clause[1].split()))[0]
    return first[:1].upper() + first[1:]
