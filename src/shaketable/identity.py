"""Canonical text, digests and seeds: the one meaning of "same"."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no canonical text")


ENCODER = json.JSONEncoder(default=_plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical(value: Any) -> str:
    """One spelling for equal values: sorted keys, no spaces, dataclasses as their fields."""
    return ENCODER.encode(value)


def digest(value: Any) -> str:
    """32 hexadecimal digits (128 bits of SHA-256) of a value's canonical text."""
    return digest_text(canonical(value))


def digest_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def seed_from(*parts: object) -> int:
    """The first 4 bytes, big endian, of SHA-256 of the parts joined by `|`."""
    joined = "|".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(joined.encode("utf-8", "surrogatepass")).digest()[:4], "big")


def trial_key(identity: str, item: str, variation: str, wording: str, temperature: float, repeat: int) -> str:
    """The digest of everything that determines a trial's output.

    `identity` spells out the parts, the generation settings and the study seed; `item` is the
    digest of the dataset item as far as a system can see it (never its accepted answers).
    """
    return digest_text(f"{identity}\n{item}\n{variation}\n{wording}\n{temperature!r}\n{repeat}")
