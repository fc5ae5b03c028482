"""A parsed question → prepositions that learners take for one another, none of which gives it another meaning."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from shaketable.variations.english.edits import Error, replaced

if TYPE_CHECKING:
    from spacy.tokens import Token

MONTHS = frozenset({
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
})  # fmt: skip
GOVERNED = {
    "accused of": "for", "arrive in": "to", "arrived in": "to", "arrive at": "to",
    "arrived at": "to", "according to": "with", "associated with": "to", "charged with": "of", "consist of": "from",
    "consists of": "from", "consisted of": "from", "depend on": "of", "depends on": "of", "dependent on": "of",
    "different from": "of", "divided into": "in", "effect on": "in", "famous for": "of", "focus on": "in",
    "focused on": "in", "influence on": "in", "inspired by": "from", "interested in": "on",
    "located in": "at", "located on": "at", "married to": "with", "participate in": "at", "participated in": "at",
    "reason for": "of", "reasons for": "of", "related to": "with", "responsible for": "of", "similar to": "with",
    "situated in": "at", "specialize in": "on", "specialized in": "on", "specializes in": "on", "translated into": "in",
}  # fmt: skip
"""The preposition that learners put after a word, none of which gives it another meaning."""
WHICH = {
    "year": ("on", "at"), "month": ("on", "at"), "decade": ("on", "at"), "century": ("on", "at"), "date": ("in", "at"),
    "day": ("in", "at"), "city": ("at",), "country": ("at",), "county": ("at",), "state": ("at",), "town": ("at",),
    "region": ("at",), "province": ("at",), "village": ("at",), "continent": ("at",), "district": ("at",),
}  # fmt: skip
"""After `in which` and `on which`: what stands there instead."""


def prepositions(words: Sequence[Token]) -> Iterator[Error]:
    """`married to` → `married with`, `in 1990` → `at 1990`."""
    for place, word in enumerate(words[:-1]):
        following, before = words[place + 1], words[place - 1] if place else None
        if word.lower_ not in ("in", "on", "at", "to", "of", "for", "with", "by", "from", "into"):
            continue
        if before is not None and (wrong := GOVERNED.get(f"{before.text} {word.text}")):
            yield Error(rule="preposition", edits=(replaced(word, wrong),))
            continue
        noun = words[place + 2] if place + 2 < len(words) else None
        if word.lower_ in ("in", "on") and following.lower_ in ("which", "what") and noun is not None:
            for wrong in WHICH.get(noun.lower_, ()):
                if wrong != word.lower_:
                    yield Error(rule="preposition", edits=(replaced(word, wrong),))
        elif word.text == "in" and re.fullmatch(r"1\d{3}|20\d\d", following.text):
            yield Error(rule="preposition", edits=(replaced(word, "at"),))
            yield Error(rule="preposition", edits=(replaced(word, "on"),))
        elif word.text in ("in", "on") and following.text in MONTHS:
            yield Error(rule="preposition", edits=(replaced(word, "in" if word.text == "on" else "on"),))
        elif word.text == "in" and following.lower_ == "the" and noun is not None and noun.lower_ == "world":
            yield Error(rule="preposition", edits=(replaced(word, "on"),))
