"""A text → where its sentences stand, by rule: for datasets that come as paragraphs."""

from __future__ import annotations

import itertools
import re

_ABBREVIATION = re.compile(
    r"mrs?|ms|dr|prof|st|jr|sr|vs|no|gen|lt|col|sgt|capt|maj|adm|rev|gov|sen|rep|pres|hon|mt|ft|ca|approx|fig|vol|inc|ltd|"
    r"co|corp|bros|dept|est|jan|feb|mar|apr|aug|sept|oct|nov|dec|cf|al|"
    r"(?:[^\W\d_]\.)*[^\W\d_]"  # initials, and letters with dots between them such as U.S.
)
_END = re.compile(r"""(?<![.!?])([.!?]++)["'”’)\]]*+\s++(?=["'“‘(\[]?[A-Z0-9])""")
_LONGEST = 40
"""Characters of an abbreviation at most: no further back is looked for where a word begins."""


def sentence_bounds(text: str) -> list[tuple[int, int]]:
    """The first character of each sentence and that of the next; empty for a text without words.

    A full stop after an initial or a common abbreviation ends no sentence. The rule errs rarely and
    towards too few cuts; nothing needs to be loaded for it.
    """
    if not text.strip():
        return []
    ends = [end.end() for end in _END.finditer(text) if not _is_abbreviation(text, end)]
    return list(itertools.pairwise([0, *ends, len(text)]))


def _is_abbreviation(text: str, end: re.Match[str]) -> bool:
    furthest = max(0, end.start() - _LONGEST)
    space = text.rfind(" ", furthest, end.start())
    word = text[space + 1 if space >= 0 else furthest : end.start()].lstrip("\"'“‘([")
    return end[1] == "." and _ABBREVIATION.fullmatch(word.casefold()) is not None
