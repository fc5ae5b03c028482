"""A function or class with what a decorator says of it → a part of this process."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from shaketable import catalog
from shaketable.errors import PartError
from shaketable.protocols import Method, Metric, Model, Perturbation, Retriever, Variation
from shaketable.stages.own.signature import Function
from shaketable.stages.own.source import origin_of, source_digest

PROMISES: Mapping[str, type] = {
    "metric": Metric,
    "perturbation": Perturbation,
    "variation": Variation,
    "retriever": Retriever,
    "model": Model,
    "method": Method,
}
ANY_OF_THEM = {"version"}
"""What a class need not have: it is given one."""


def decorated(
    target: Any,
    kind: str,
    name: str | None,
    version: int | None,
    make: Callable[[Function, str], Any],
    decorator: str = "",
) -> Any:
    """`@metric` and `@metric(name=…)`: the function or class itself, which stays what it was. `make` makes the part of
    a function and a name; `decorator` is what people write, where it is not the kind."""
    if target is None:
        return lambda later: decorated(later, kind, name, version, make, decorator)
    written = decorator or kind
    if version is not None and (isinstance(version, bool) or not isinstance(version, int)):
        raise PartError(f"@shaketable.{written}: version is {version!r}; expected a whole number, such as version=2.")
    if inspect.isclass(target):
        register_class(kind, target, name, version)
        return target
    if not callable(target) and written != "pipeline":
        raise PartError(f"@shaketable.{written} stands above a function or a class; this is {type(target).__name__}.")
    own_name = name or (target.__name__ if inspect.isfunction(target) else None)
    if own_name is None:
        raise PartError(
            f"{type(target).__name__} has no name. Give one: shaketable.{written}(…, name='mine', version=1)."
        )
    digest = source_digest(target, version, f"@shaketable.{written}(version=1)")
    part = make(target, own_name)
    if inspect.isclass(part):
        part.source_digest, part.version = digest, version or 1  # type: ignore[attr-defined]
    _bring(kind, own_name, part, target, digest)
    return target


def register_class(kind: str, target: type, name: str | None = None, version: int | None = None) -> None:
    """Register a class that keeps the promise of its kind; its fields are its settings."""
    if kind not in PROMISES:
        raise PartError(f"An {kind} is a function; {target.__name__} is a class.")
    if not dataclasses.is_dataclass(target):
        raise PartError(
            f"{target.__name__} is no dataclass, so its settings are not known. Write above it: "
            "@dataclass(frozen=True, kw_only=True)."
        )
    if missing := sorted(_promised(PROMISES[kind]) - set(dir(target)) - ANY_OF_THEM):
        raise PartError(
            f"{target.__name__} is no {kind}: it has no {', '.join(missing)}. "
            f"`shaketable docs python` shows what a {kind} has."
        )
    own_name = name or "".join(f"_{c.lower()}" if c.isupper() else c for c in target.__name__).lstrip("_")
    digest = source_digest(target, version, f"@shaketable.{kind}(version=1)")
    attributes: dict[str, object] = {"source_digest": digest}
    if version is not None or "version" not in dir(target):
        attributes["version"] = version or 1
    if all(field.name != "name" for field in dataclasses.fields(target)):
        attributes["name"] = own_name
    for attribute, value in attributes.items():
        setattr(target, attribute, value)
    _bring(kind, own_name, target, target, digest)


def _bring(kind: str, name: str, part: object, made_of: object, digest: str) -> None:
    registered = catalog.Registered(target=part, made_of=made_of, origin=origin_of(made_of), source_digest=digest)
    catalog.register(kind, name, registered)


def _promised(promise: type) -> set[str]:
    """What a part of this kind must have."""
    names: set[str] = set()
    for base in promise.__mro__:
        names |= vars(base).get("__annotations__", {}).keys()
        names |= {
            name for name, value in vars(base).items() if inspect.isfunction(value) or isinstance(value, property)
        }
    return {name for name in names if not name.startswith("_")}
