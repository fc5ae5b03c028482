"""A value of any kind → the same with whole characters in all its texts: no store takes half of one."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from shaketable.text.normalization import without_surrogates

T = TypeVar("T")


def mend(value: T) -> T:
    """Lone surrogates, which own parts may pass on, become `?`. What has none is given back as the object it is."""
    return cast(T, _mended(value))


def are_whole(*texts: str) -> bool:
    """Whether no text has half a character; quick."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return False
    return True


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() or value == (whole := without_surrogates(value)) else whole
    if isinstance(value, list | tuple):
        members = [_mended(one) for one in value]
        if all(new is old for new, old in zip(members, value, strict=True)):
            return value
        return members if isinstance(value, list) else tuple(members)
    if isinstance(value, Mapping):
        pairs = [(_mended(name), _mended(one)) for name, one in value.items()]
        is_same = all(new[0] is old[0] and new[1] is old[1] for new, old in zip(pairs, value.items(), strict=True))
        return value if is_same else dict(pairs)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        new = {name: _mended(getattr(value, name)) for name in _fields(type(value))}
        changed = {name: one for name, one in new.items() if one is not getattr(value, name)}
        return dataclasses.replace(value, **changed) if changed else value
    return value


@functools.cache
def _fields(kind: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind) if field.init)
