"""A text → the terms it is found by: the English analysis of Lucene and Elasticsearch."""

from __future__ import annotations

import functools
import re
import threading
from typing import Any

ANALYSIS = 1
"""Raised when a text gets other terms, so that indexes are built again."""

STOP_WORDS = frozenset(
    {"a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of"}
    | {
        "on",
        "or",
        "such",
        "that",
        "the",
        "their",
        "then",
        "there",
        "these",
        "they",
        "this",
        "to",
        "was",
        "will",
        "with",
    }
)
"""The 33 words that Lucene's English analyzer leaves out."""

# Letters joined by a full stop, colon, apostrophe or middle dot are one word, and so are digits joined by a point,
# comma, semicolon or apostrophe: the word boundaries of Unicode (UAX 29), which Lucene's standard tokenizer follows.
# Ideographs, each a word there, stay together here: the corpora are English.
# What joins is looked for before what stands around it: most words end at a space.
LETTER, PIECE, BETWEEN_LETTERS, BETWEEN_DIGITS = r"[^\W\d_]", r"[\w\u0300-\u036f]+", "[.:'’·]", "[.,;'’]"
JOINED = rf"(?<={LETTER}{BETWEEN_LETTERS})(?={LETTER})|(?<=\d{BETWEEN_DIGITS})(?=\d)"
WORD = re.compile(rf"{PIECE}(?:[.:'’·,;](?:{JOINED}){PIECE})*")


def terms(text: str) -> list[str]:
    """Words in small letters without possessive 's, stop words left out, stemmed as by Porter (1980), in order."""
    return list(filter(None, map(_term, WORD.findall(text.lower()))))


@functools.lru_cache(1 << 20)
def _term(word: str) -> str:
    """Empty for a stop word."""
    if word.endswith(("'s", "’s")):
        word = word[:-2]
    if word in STOP_WORDS:
        return ""
    # Lucene leaves words of one or two letters alone.
    return str(_stemmer(threading.get_ident()).stemWord(word)) if len(word) > 2 else word


@functools.cache
def _stemmer(thread: int) -> Any:
    """A stemmer for each thread: it has a state, and to build one takes microseconds."""
    import Stemmer

    return Stemmer.Stemmer("porter")
