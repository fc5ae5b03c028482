"""Words of a question → other words in the same form, names and quotations left alone."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from shaketable.text import language
from shaketable.variations.english.inflection import form

if TYPE_CHECKING:
    from spacy.tokens import Token

Table = Mapping[tuple[str, str], Sequence[str]]
"""(basic form, first letter of the tag or empty for any) → words to choose from."""
QUOTES = frozenset('"“”‘')
"""A single one that closes looks like an apostrophe, so what follows it stays as it is."""
FREE_ADJECTIVES = frozenset({"famous", "former", "new", "original", "other", "popular", "same"})
"""They make no set phrase with their noun, as `high school`, `last name` and `civil war` are."""


def parse_table(text: str) -> Table:
    """Lines such as `N film: movie, flick`; the letter is the tag's first, `*` any."""
    table = {}
    for line in text.strip().splitlines():
        words, _, others = line.partition(":")
        letter, _, word = words.strip().partition(" ")
        table[word, "" if letter == "*" else letter] = [other.strip() for other in others.split(",")]
    return table


def substituted(
    text: str, table: Table, rng: random.Random, pipeline: str = language.PIPELINE
) -> tuple[str, list[str]]:
    """The text with every word of the table exchanged, and the exchanges."""
    pieces: list[str] = []
    done: list[str] = []
    quoted = False
    words = list(language.parsed(text, pipeline))
    for place, word in enumerate(words):
        quoted ^= word.text in QUOTES
        after = None if quoted or _is_fixed(words, place) else _other(word, table, rng)
        if after:
            after = after[0].upper() + after[1:] if word.text[0].isupper() else after
            done.append(f"{word.text} → {after}")
            if pieces and words[place - 1].lower_ in ("a", "an"):
                pieces[-1] = _article(words[place - 1].text, after) + words[place - 1].whitespace_
        pieces.append((after or word.text) + word.whitespace_)
    return "".join(pieces), done


def _is_fixed(words: Sequence[Token], place: int) -> bool:
    """A name, a word with a capital inside a sentence, or a part of a set phrase: `radio show`, `high school`."""
    word = words[place]
    if word.tag_ in ("NNP", "NNPS") or (place and word.text[:1].isupper()):
        return True
    before, after = words[place - 1] if place else None, words[place + 1] if place + 1 < len(words) else None
    if before is not None and (before.text in ("-", "'") or before.tag_[:2] == word.tag_[:2] == "NN"):
        return True
    if before is not None and before.tag_ == "JJ" and before.text.islower() and before.text not in FREE_ADJECTIVES:
        return True
    if after is not None and after.tag_ == "POS" and word.tag_ == "NNS":  # children's
        return True
    return after is not None and (after.text == "-" or (word.tag_[:2] == "NN" and after.tag_ in ("NN", "NNS")))


def _other(word: Token, table: Table, rng: random.Random) -> str | None:
    for key in ((word.lemma_.lower(), word.tag_[:1]), (word.lower_, "")):
        if key in table:
            return _in_form(rng.choice(list(table[key])), word.tag_)
    return None


def _in_form(words: str, tag: str) -> str:
    """A verb is inflected in its first word, a noun in its last."""
    if tag in ("VBD", "VBZ", "VBN", "VBG"):
        first, _, rest = words.partition(" ")
        return " ".join(filter(None, (form(first, tag), rest)))
    if tag == "NNS":
        start, _, last = words.rpartition(" ")
        return " ".join(filter(None, (start, form(last, tag))))
    return words


def _article(article: str, following: str) -> str:
    """`a` or `an`, as the word behind it sounds."""
    wanted = "an" if re.match(r"(?!uni|use|usu|eu|one)[aeiou]", following, re.IGNORECASE) else "a"
    return wanted.capitalize() if article[0].isupper() else wanted
