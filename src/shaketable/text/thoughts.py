"""A reasoning model's raw text → its thoughts and its answer, apart."""

from __future__ import annotations

import re

OPEN, CLOSE = "<think>", "</think>"
TAG = re.compile(f"{OPEN}|{CLOSE}")
OPENED = re.compile(rf"{OPEN}\s*\Z")
"""A prompt that ends with an opened thought, as some chat templates make it."""


def split_thoughts(text: str, finished: bool) -> tuple[str, str]:
    """(thoughts, answer). `finished` is False when the text was cut off, by max_tokens say.

    Only a block at the very start counts, so an answer may talk about the tags, as long as it opens what it closes.
    Some chat templates write the opening tag into the prompt; then the text holds the closing tag alone. A block within
    a block belongs to it, and a closing tag that nothing opens ends thoughts wherever it stands. A block that is never
    closed is all thoughts when the text was cut off. When the model ended by itself it forgot the tag, and nobody can
    say where its answer begins: the text stays as it is.
    """
    is_opened = text.lstrip().startswith(OPEN)
    begin = _begin_of_answer(text, is_opened=is_opened)
    if begin:
        return text[: begin - len(CLOSE)].strip().removeprefix(OPEN).strip(), text[begin:].lstrip()
    if is_opened and CLOSE not in text and not finished:
        return text.strip().removeprefix(OPEN).strip(), ""
    return "", text


def _begin_of_answer(text: str, *, is_opened: bool) -> int:
    """Where the thoughts at the start have ended; 0: there are none, or no end."""
    begin = depth = 0
    is_leading = is_opened
    for tag in TAG.finditer(text):
        if tag[0] == OPEN:
            depth += 1
            continue
        if depth == 0 or is_leading:
            begin = tag.end()
        depth = max(depth - 1, 0)
        is_leading = is_leading and depth > 0
    return begin
