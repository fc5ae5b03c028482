"""A reasoning model's raw text → its thoughts and its answer, apart."""

from __future__ import annotations

import re

OPEN, CLOSE = "<think>", "</think>"
OPENED = re.compile(rf"{OPEN}\s*\Z")
"""A prompt that ends with an opened thought, as some chat templates make it."""


def split_thoughts(text: str, finished: bool) -> tuple[str, str]:
    """(thoughts, answer). `finished` is False when the text was cut off, by max_tokens say.

    Only a block at the very start counts, so an answer may talk about the tags. Some chat templates
    write the opening tag into the prompt; then the text holds the closing tag alone. A block that
    is never closed is all thoughts when the text was cut off. When the model ended by itself it
    forgot the tag, and nobody can say where its answer begins: the text stays as it is.
    """
    before, close, after = text.partition(CLOSE)
    opened = before.lstrip().startswith(OPEN)
    if close and (opened or OPEN not in before):
        return before.strip().removeprefix(OPEN).strip(), after.lstrip()
    if opened and not close and not finished:
        return text.strip().removeprefix(OPEN).strip(), ""
    return "", text
