"""The ways of published studies in which two answers count as the same text; ours is in `plain.py`."""

from __future__ import annotations

import re
import string
import unicodedata

ARTICLES = frozenset({"a", "an", "the"})
YES_NO = frozenset({"yes", "no"})


def raw(text: str) -> str:
    return text


def casefold_strip(text: str) -> str:
    """White space at the ends, letter case and one final full stop do not count."""
    return text.strip().casefold().removesuffix(".")


def squad(text: str) -> str:
    """As the SQuAD evaluation script: lower case, ASCII punctuation deleted, articles and spare spaces removed."""
    unpunctuated = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", unpunctuated).split())


def words(text: str) -> list[str]:
    """As AdaRAGUE's in-accuracy: decomposed, lower case, punctuation to spaces, articles removed.

    Punctuation becomes a space, so that `U.S.` is two words. All of Unicode's punctuation and
    symbols count, so that curly quotes behave like straight ones.
    """
    return [word for word in spaced(unicodedata.normalize("NFD", text)).split() if word not in ARTICLES]


def spaced(decomposed: str) -> str:
    """Lower case, punctuation and symbols as spaces; a sigma is the same letter wherever in a word it stands."""
    lower = decomposed.lower().replace("ς", "σ")
    return "".join(" " if unicodedata.category(c)[0] in "PS" else c for c in lower)


LONGEST_SHORT = 3
"""Characters of an accepted answer that counts only as a word: `US` stands in `Austria`, `no` in `know`."""


def is_short(gold: str) -> bool:
    """Whether it must be a word of its own. Scripts without case, such as Chinese, put no spaces between words."""
    gold = gold.strip()
    return len(gold) <= LONGEST_SHORT and any(c.isdigit() or c.lower() != c.upper() for c in gold)


def in_word(character: str) -> bool:
    """Part of a word, not a space, a punctuation mark or a symbol."""
    return not character.isspace() and unicodedata.category(character)[0] not in "PS"


def contains_whole(sought: str, text: str) -> bool:
    """Whether a text stands in another with no part of a word before or behind it."""
    start = text.find(sought)
    while start >= 0:
        around = text[max(start - 1, 0) : start] + text[start + len(sought) :][:1]
        if not any(in_word(character) for character in around):
            return True
        start = text.find(sought, start + 1)
    return False


def occurs(gold: str, text: str) -> bool:
    """Whether a text has an accepted answer's characters, whatever their case; a short one as a word of its own."""
    sought, within = gold.strip().casefold(), text.strip().casefold()
    if not sought:
        return False
    return contains_whole(sought, within) if is_short(gold) else sought in within


def contains_words(sought: list[str], within: list[str]) -> bool:
    """Whether one word sequence stands in another without a gap; an empty one stands nowhere."""
    width = len(sought)
    return width > 0 and any(within[i : i + width] == sought for i in range(len(within) - width + 1))


def without_surrogates(text: str) -> str:
    """Lone surrogates, which broken endpoints send, become `?`: tokenizers written in Rust refuse them."""
    return text.encode("utf-8", "replace").decode("utf-8")
