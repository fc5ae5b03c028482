"""Two wordings → the words that differ, and any part of these differences → a wording between the two."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Alignment = tuple[Literal["equal", "replace", "delete", "insert"], int, int, int, int]
MOST_PAIRS = 1_000_000
"""Words of one text times words of the other up to which every pair is compared: a second at most."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WordEdit:
    """Words of one text that another has otherwise."""

    start: int
    """The place of the first word; so many stand before what is put in."""
    before: tuple[str, ...]
    """Empty: put in."""
    after: tuple[str, ...]
    """Empty: taken out."""


def align(old: Sequence[str], new: Sequence[str]) -> list[Alignment]:
    """How one list of words becomes another, as difflib tells it: `equal`, `replace`, `delete` or `insert`, and from
    where to where in each. Of very long lists what they begin and end with is kept, and all between is replaced."""
    if len(old) * len(new) <= MOST_PAIRS:
        return difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    least = min(len(old), len(new))
    first = next((n for n in range(least) if old[n] != new[n]), least)
    last = next((n for n in range(least - first) if old[-1 - n] != new[-1 - n]), least - first)
    i, k = len(old) - last, len(new) - last
    kind: Literal["replace", "delete", "insert"] = "replace"
    if first in (i, k):
        kind = "insert" if first == i else "delete"
    pieces: list[Alignment] = [
        ("equal", 0, first, 0, first),
        (kind, first, i, first, k),
        ("equal", i, len(old), k, len(new)),
    ]
    return [piece for piece in pieces if piece[1] < piece[2] or piece[3] < piece[4]]


def word_edits(before: str, after: str) -> tuple[WordEdit, ...]:
    """Where the words of two texts differ, in order. Runs of equally many words differ word by word."""
    old, new = before.split(), after.split()
    edits: list[WordEdit] = []
    for kind, i, j, k, m in align(old, new):
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
