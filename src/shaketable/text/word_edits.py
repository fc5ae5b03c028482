"""Two wordings → the words that differ, and any part of these differences → a wording between the two."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class WordEdit:
    """Words of one text that another has otherwise."""

    start: int
    """The place of the first word; so many stand before what is put in."""
    before: tuple[str, ...]
    """Empty: put in."""
    after: tuple[str, ...]
    """Empty: taken out."""


def word_edits(before: str, after: str) -> tuple[WordEdit, ...]:
    """Where the words of two texts differ, in order. Runs of equally many words differ word by word."""
    old, new = before.split(), after.split()
    edits: list[WordEdit] = []
    for kind, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        if j - i == m - k:
            edits += [WordEdit(start=i + n, before=(old[i + n],), after=(new[k + n],)) for n in range(j - i)]
        else:
            edits.append(WordEdit(start=i, before=tuple(old[i:j]), after=tuple(new[k:m])))
    return tuple(edits)


def apply_edits(text: str, edits: Iterable[WordEdit]) -> str:
    """The text with some of these edits; none: its words, with one space between."""
    words = text.split()
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        words[edit.start : edit.start + len(edit.before)] = edit.after
    return " ".join(words)
