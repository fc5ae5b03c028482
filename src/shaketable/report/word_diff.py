"""Two texts → which words one has and the other has not."""

from __future__ import annotations

from typing import Literal

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
