"""Texts of a server → what may be stored and shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from shaketable.text.normalization import without_surrogates

ESCAPES = ("\\u", "\\/", '\\"', "\\\\")
"""How JSON may spell a half character, a NUL, or a secret that is not seen in the text."""
REPLACED = "\ufffd"
"""Stands where half a character, or a NUL, stood."""

Hide = Callable[[str], str]
"""A text → the same without secrets."""


def clean_text(text: str, hide: Hide) -> str:
    """Half characters, which no store takes, and NULs, at which some programs end a text, are replaced."""
    whole = text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return hide(whole).replace("\0", REPLACED)


def plain_words(text: str) -> str:
    """For one line of a message: nothing in them moves the cursor or ends the line."""
    return "".join(c if c.isprintable() else " " for c in without_surrogates(text))


def clean_json(text: str, hide: Hide) -> Any:
    """The value, all its texts clean; raises ValueError or RecursionError. Numbers may be infinite still: whoever reads
    one looks."""
    parsed = json.loads(text)
    is_clean = not any(escape in text for escape in ESCAPES) and hide(text) == text
    return parsed if is_clean else _cleaned(parsed, hide)


def _cleaned(value: Any, hide: Hide) -> Any:
    if isinstance(value, str):
        return clean_text(value, hide)
    if isinstance(value, list):
        return [_cleaned(one, hide) for one in value]
    if isinstance(value, dict):
        return {clean_text(name, hide): _cleaned(one, hide) for name, one in value.items()}
    return value
