"""Has the answer stopped being language?"""

from __future__ import annotations

import functools
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from shaketable import weights
from shaketable.scoring import score_each
from shaketable.types import Answer, Measure, Question, Record, Score

WORD = re.compile(r"[^\W\d_]+")
MANY_WORDS = 8
"""From here on a sentence without function words is strange; shorter answers may be a list of names."""
EAST_ASIAN = frozenset({"CJK", "HIRAGANA", "KATAKANA"})


@dataclass(frozen=True, kw_only=True)
class Gibberish:
    """1 if an English answer is garbled, else 0; lower is better. None for a failed trial.

    Garbled means: too many letters outside ASCII, too many unknown words, or too many scripts.
    Words of the question, its documents and its accepted answers are never held against an answer,
    so it may give the names it needs. Also known are the words of spaCy's small English pipeline
    (49,000, names and short word endings among them); figures are not words. Salad made of real
    words, as small models write at temperature 2, has only some 15 to 35 % unknown words and
    passes; `min_function_words` finds it.
    """

    version: ClassVar[int] = 1
    numbers: ClassVar[tuple[Measure, ...]] = (
        Measure(name="gibberish", unit="share", higher_is_better=False, title="Garbled answers"),
    )
    reads_trace: ClassVar[bool] = False
    max_non_ascii: float = 0.2
    """Share of letters outside ASCII that is still fine."""
    max_unknown: float = 0.5
    """Share of unknown words that is still fine."""
    max_scripts: int = 2
    """Number of scripts that is still fine; Chinese and Japanese signs count as one script."""
    min_words: int = 3
    """Texts with fewer words are not judged by their words: a name alone may well be unknown."""

    min_function_words: float = 0.0
    """Share of words like `the`, `of`, `was` that a text of eight words or more must have; 0: not asked.
    Sentences of Wikipedia have 0.42 (median), 99 % of them at least 0.15; salad has less than 0.1."""

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        return score_each(
            "gibberish",
            records,
            questions,
            lambda answer, question: float(self._is_garbled(answer, question)),
            needs_answers=False,
        )

    def _is_garbled(self, answer: Answer, question: Question) -> bool:
        text = answer.text
        return (
            len(scripts(text)) > self.max_scripts
            # The documents are read only for the few answers that look strange without them.
            or (self._is_strange(text, frozenset()) and self._is_strange(text, _given(question)))
            or self._lacks_function_words(text)
        )

    def _is_strange(self, text: str, given: frozenset[str]) -> bool:
        found = words(text)
        fresh = [word for word in found if word not in given]
        n_letters = sum(len(word) for word in found)
        n_non_ascii = sum(not letter.isascii() for word in fresh for letter in word)
        if n_non_ascii > self.max_non_ascii * n_letters:
            return True
        n_unknown = sum(word not in english() for word in fresh)
        return len(found) >= self.min_words and n_unknown > self.max_unknown * len(found)

    def _lacks_function_words(self, text: str) -> bool:
        found = words(text)
        if self.min_function_words == 0 or len(found) < MANY_WORDS:
            return False
        return sum(word in function_words() for word in found) < self.min_function_words * len(found)


@functools.cache
def english() -> frozenset[str]:
    """Every string that spaCy's small English pipeline knows, without regard to case."""
    strings = weights.locate("en_core_web_sm") / "vocab" / "strings.json"
    return frozenset(word for text in json.loads(strings.read_text(encoding="utf-8")) for word in words(text))


@functools.cache
def function_words() -> frozenset[str]:
    from spacy.lang.en.stop_words import STOP_WORDS

    return frozenset(STOP_WORDS)


def words(text: str) -> list[str]:
    """The runs of letters, without regard to case; `don't` is two, as are both sides of a hyphen."""
    return [word.casefold() for word in WORD.findall(text)]


def scripts(text: str) -> set[str]:
    """The scripts of the letters, by the first word of their Unicode names: LATIN, GREEK, CYRILLIC ..."""
    # The compatibility form makes a Greek letter of the micro sign, and Latin ones of full-width letters.
    letters = {c for c in unicodedata.normalize("NFKC", text) if c.isalpha()}
    first_words = {unicodedata.name(c, "UNNAMED").split()[0] for c in letters}
    return {"EAST ASIAN" if word in EAST_ASIAN else word for word in first_words}


def _given(question: Question) -> frozenset[str]:
    """The words that came with the question."""
    documents = [text for document in question.documents for text in (document.title, document.text)]
    return frozenset(words(" ".join([question.text, *question.answers, question.reference or "", *documents])))
