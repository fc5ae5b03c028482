"""Characters that hide or turn others round, on a page or a terminal → their names."""

from __future__ import annotations

import re

UNSEEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
"""Control characters, marks of direction and halves of characters."""


def visible(text: str) -> str:
    """What cannot be seen is named: `[U+202E]`."""
    return UNSEEN.sub(lambda found: f"[U+{ord(found.group()):04X}]", text)


def escaped(json_text: str) -> str:
    """JSON in which the same are escapes: it means what it meant, and a terminal shows it."""
    return UNSEEN.sub(lambda found: f"\\u{ord(found.group()):04x}", json_text)
