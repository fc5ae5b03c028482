"""Two texts → which words one has and the other has not."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import Literal

from shaketable.store.examples import PARAGRAPH
from shaketable.text.word_edits import align

Change = Literal["kept", "gone", "new"]


def word_diff(before: str, after: str) -> list[tuple[Change, str]]:
    """Runs of words that are `kept`, `gone` or `new`, in reading order."""
    old, new = before.split(), after.split()
    runs: list[tuple[Change, str]] = []
    for kind, i, j, k, m in align(old, new):
        if kind == "equal":
            runs.append(("kept", " ".join(old[i:j])))
            continue
        changes: tuple[tuple[Change, list[str]], ...] = (("gone", old[i:j]), ("new", new[k:m]))
        runs += [(change, " ".join(words)) for change, words in changes if words]
    return runs


def evidence_diff(before: str, after: str) -> list[tuple[Change, str]]:
    """The words that differ, with a mark between passages; passages that only change places are numbered instead."""
    if new_order(before, after):
        passages = (f"[{number}] {text}" for number, text in enumerate(before.split(PARAGRAPH), 1))
        return [("kept", " ¶ ".join(passages))]
    return word_diff(before.replace(PARAGRAPH, " ¶ "), after.replace(PARAGRAPH, " ¶ "))


def new_order(before: str, after: str) -> str:
    """`1 2 3 → 3 2 1` where the same passages stand in another order; else nothing."""
    old, new = before.split(PARAGRAPH), after.split(PARAGRAPH)
    if old == new or sorted(old) != sorted(new):
        return ""
    places: defaultdict[str, deque[int]] = defaultdict(deque)
    for place, text in enumerate(old, 1):
        places[text].append(place)
    moved = " ".join(str(places[text].popleft()) for text in new)
    return f"{' '.join(map(str, range(1, len(old) + 1)))} → {moved}"
