"""Characters that hide or turn others round, on a page or a terminal → their names."""

from __future__ import annotations

import re
from collections.abc import Mapping

from shaketable.types import Json

UNSEEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)
"""Control characters, marks of direction, halves of characters and two that are none."""
FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
"""What XML forbids, and with it SVG: the library that draws ends the process where a chart holds one of them."""


def visible(text: str) -> str:
    """What cannot be seen is named: `[U+202E]`."""
    return UNSEEN.sub(lambda found: f"[U+{ord(found.group()):04X}]", text)


def escaped(json_text: str) -> str:
    """JSON in which the same are escapes: it means what it meant, and a terminal shows it."""
    return UNSEEN.sub(lambda found: f"\\u{ord(found.group()):04x}", json_text)


def clean_name(text: str) -> str:
    """Replace what XML forbids: vertical tabs and page breaks, which word processors write, by a space; the rest is
    named."""
    return FORBIDDEN.sub(lambda found: " " if found.group().isspace() else f"[U+{ord(found.group()):04X}]", text)


def clean_names(value: Json) -> Json:
    """Clean every text of a JSON value, keys included."""
    if isinstance(value, str):
        return clean_name(value)
    if isinstance(value, list | tuple):
        return [clean_names(member) for member in value]
    if isinstance(value, Mapping):
        return {clean_name(name): clean_names(member) for name, member in value.items()}
    return value
