"""A text and what is wrong in it now → the text with its errors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shaketable.variations.english.indirect import AUXILIARIES, WH_WORDS

if TYPE_CHECKING:
    from spacy.tokens import Token

MOST_WORDS = 60
"""Longer texts are rarely questions, and parsers err in them."""
ABOUT_WORDS = frozenset({
    "complete", "expression", "idiom", "lyric", "lyrics", "mean", "motto", "phrase", "proverb", "quotation", "quote",
    "rhyme", "say", "saying", "sentence", "slogan", "translate",
})  # fmt: skip
"""Who asks what words mean gives them as they are."""
CITED = frozenset({"line", "lines", "words"})
QUOTATION = re.compile(r"\"[^\"]*\"|“[^”]*”|(?<!\w)['‘][^'‘’]+['’](?!\w)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    start: int
    """Of the first character that goes."""
    end: int
    """The character after the last that goes; the same as `start` where something is put in."""
    text: str
    """What stands there instead."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Error:
    """One error: several words may change for it."""

    rule: str
    edits: tuple[Edit, ...]

    def overlaps(self, other: Error) -> bool:
        return any(mine.start < theirs.end and theirs.start < mine.end for mine in self.edits for theirs in other.edits)


def replaced(word: Token, text: str) -> Edit:
    """Another form for a word, with the capital that it had."""
    kept = text[:1].upper() + text[1:] if word.text[:1].isupper() else text
    return Edit(start=word.idx, end=word.idx + len(word.text), text=kept)


def removed(word: Token) -> Edit:
    """A word and the space behind it."""
    return Edit(start=word.idx, end=word.idx + len(word.text_with_ws), text="")


def put_before(word: Token, text: str) -> Edit:
    return Edit(start=word.idx, end=word.idx, text=f"{text} ")


def put_after(word: Token, text: str) -> Edit:
    end = word.idx + len(word.text)
    return Edit(start=end, end=end, text=f" {text}")


def applied(text: str, errors: Iterable[Error]) -> str:
    """The text with all edits, in small matters tidied: one space, a capital where there was one."""
    made = text
    for edit in sorted(
        (edit for error in errors for edit in error.edits), key=lambda edit: (edit.start, edit.end), reverse=True
    ):
        made = made[: edit.start] + edit.text + made[edit.end :]
    made = re.sub(r" (?=[?!.,;]|$)", "", re.sub(r"  +", " ", made)).strip()
    return made[:1].upper() + made[1:] if text[:1].isupper() else made


def described(text: str, error: Error) -> str:
    """`did, start → started`: what went and what came."""
    edits = sorted(error.edits, key=lambda edit: edit.start)
    before = ", ".join(filter(None, (text[edit.start : edit.end].strip() for edit in edits)))
    after = ", ".join(filter(None, (edit.text.strip() for edit in edits)))
    return f"{before} → {after}"


def outside_quotations(text: str, errors: Iterable[Error]) -> list[Error]:
    """The errors that leave every quotation as it is."""
    spans = [found.span() for found in QUOTATION.finditer(text)]
    return [
        error
        for error in errors
        if not any(edit.start < end and start < edit.end for edit in error.edits for start, end in spans)
    ]


def has_capitals(words: Sequence[Token]) -> bool:
    """Whether names have capitals here: in a query typed in small letters any word may belong to a title."""
    return any(word.text[:1].isupper() for word in words[1:])


def is_english_question(text: str, words: Sequence[Token]) -> bool:
    """Whether rules may read it: three to sixty words that ask in English, each quotation closed."""
    small = {word.lower_ for word in words}
    opens = bool(words) and words[0].lower_ in AUXILIARIES and bool(small & {"the", "of", "and", "both", "same"})
    return 3 <= len(words) <= MOST_WORDS and text.count('"') % 2 == 0 and (bool(small & WH_WORDS) or opens)


def is_about_words(words: Sequence[Token]) -> bool:
    """Whether it asks about an expression, which must stay as it is."""
    return any(word.lemma_.lower() in ABOUT_WORDS for word in words)


def start_of_cited(words: Sequence[Token]) -> int:
    """Where words begin that may be those of a song or a play: behind `the line`, `the opening words`."""
    for place, word in enumerate(words):
        if word.lower_ in CITED and any(one.lower_ in ("the", "these") for one in words[max(0, place - 3) : place]):
            return word.idx + len(word.text)
    return len(words[-1].doc.text)
