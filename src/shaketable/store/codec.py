"""Frozen dataclasses ↔ plain JSON values, by their fields and type hints, so that no field is lost.

A field that equals its default is left out; a field that a stored value lacks gets its default. So older files are read
where fields were added, and `OLDER` mends those where fields were renamed.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from shaketable.store.older import OLDER, Packed

T = TypeVar("T")
Keep = Callable[[object], str]
"""A value that many records share → the digest it is kept under."""
Fetch = Callable[[str, Callable[[Any], Any]], Any]
"""The digest, and how its JSON becomes the value → the value."""
Pack = Callable[[Any, Keep], Any]
Unpack = Callable[[Any, Fetch], Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Form(Generic[T]):
    """How the values of one dataclass are written."""

    kind: type[T]
    packing: tuple[tuple[str, object, Pack | None], ...]
    """Field, its default (`MISSING`: there is none), and how it is packed; None: it is plain JSON."""
    unpacking: tuple[tuple[str, Unpack | None], ...]
    shared: frozenset[str]
    """Fields that are kept apart, and packed as their digests."""

    def pack(self, value: T, keep: Keep) -> dict[str, Any]:
        packed = {}
        for name, default, pack in self.packing:
            own = getattr(value, name)
            if own is not default and own != default:
                packed[name] = own if pack is None else pack(own, keep)
        return packed

    def unpack(self, packed: Packed, fetch: Fetch) -> T:
        """What is not a field any more is passed over."""
        older = OLDER.get(self.kind)
        given = packed if older is None else older(packed)
        values = {
            name: given[name] if unpack is None else unpack(given[name], fetch)
            for name, unpack in self.unpacking
            if name in given
        }
        return self.kind(**values)


def form_of(kind: type[T], shared: tuple[object, ...] = ()) -> Form[T]:
    """The form of a dataclass, whose fields of the types `shared` are kept apart."""
    form: Form[T] = _form_of(typing.cast(Any, kind), shared)
    return form


@functools.cache
def _form_of(kind: Any, shared: tuple[object, ...]) -> Form[Any]:
    hints = typing.get_type_hints(kind)
    packing = []
    for field in dataclasses.fields(kind):
        default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
        packing.append((field.name, default, _packing(hints[field.name], shared)))
    return Form(
        kind=kind,
        packing=tuple(packing),
        unpacking=tuple((name, _unpacking(hints[name], shared)) for name, _, _ in packing),
        shared=frozenset(name for name, _, _ in packing if hints[name] in shared),
    )


def decode(kind: type[T], packed: Any) -> T:
    """A value of a dataclass in which nothing is shared, of JSON that has been read."""
    return form_of(kind).unpack(packed, _nothing_shared)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no JSON")


ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain, allow_nan=False)


def format_json(packed: object) -> str:
    """What is infinite or no number is not known: JSON has no word for it, and readers would stumble over one."""
    try:
        return ENCODER.encode(packed)
    except ValueError:
        return ENCODER.encode(_finite(packed))


def _finite(packed: object) -> object:
    if isinstance(packed, float):
        return packed if math.isfinite(packed) else None
    if isinstance(packed, Mapping):
        return {key: _finite(value) for key, value in packed.items()}
    return [_finite(value) for value in packed] if isinstance(packed, list | tuple) else packed


def _nothing_shared(name: str, _: object) -> Any:
    raise AssertionError(f"Nothing is shared here, and {name} is asked for.")


@functools.cache
def _packing(hint: Any, shared: tuple[object, ...]) -> Pack | None:
    if hint in shared:
        return lambda value, keep: keep(value)
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return form_of(hint, shared).pack
    inner = _members(hint)
    pack = None if inner is None else _packing(inner, shared)
    # Tuples and mappings of plain values are JSON already.
    return None if pack is None else lambda values, keep: [pack(value, keep) for value in values]


@functools.cache
def _unpacking(hint: Any, shared: tuple[object, ...]) -> Unpack | None:
    if hint in shared:
        return functools.partial(_fetched, _unpacking(hint, ()))
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return form_of(hint, shared).unpack
    inner = _members(hint)
    if inner is None:
        return None
    unpack = _unpacking(inner, shared)
    if unpack is None:
        return lambda values, fetch: None if values is None else tuple(values)
    return lambda values, fetch: tuple([unpack(value, fetch) for value in values])


def _fetched(unpack: Unpack | None, name: str, fetch: Fetch) -> Any:
    return fetch(name, lambda packed: packed if unpack is None else unpack(packed, _nothing_shared))


def _members(hint: Any) -> Any:
    """The type of a tuple's members, of a tuple that may be None too; None: it is no tuple."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        tuples = [member for member in map(_members, typing.get_args(hint)) if member is not None]
        return tuples[0] if tuples else None
    return typing.get_args(hint)[0] if typing.get_origin(hint) is tuple else None
