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
from shaketable.metrics.scoring import score_each
from shaketable.text import lexicon
from shaketable.text.language import PACKAGES, stop_words
from shaketable.text.plain import LATIN
from shaketable.types import Answer, Measure, Question, Record, Score

WORD = re.compile(r"[^\W\d_]+")
NAME = re.compile(r"(?:Mc|Mac|De|Di|Du|Fitz|La|Le|O|Van|Von)?[A-Z][a-z]+")
"""One capital letter in front, or two as in `McGregor` and `DiCaprio`; accents are taken off before."""
JOINT = re.compile(r"[a-z][A-Z]")
"""Where two words run into each other."""
MANY_WORDS = 8
"""From here on the share of strange words says something; a shorter answer may be a term or two."""
MANY_PLAIN_WORDS = 6
"""Likewise for function words, among words that are not names; fewer may be a list."""
LONG = 20
"""Letters from which on a word with two joints is a run of words."""
SEPARATOR = re.compile(r"[,;/\n]")
STROKES = str.maketrans("ŁłØøĐđŦŧßþÞðÐæÆœŒı", "LlOoDdTtspPdDaAoOi")
"""Latin letters that Unicode does not take apart."""
GLUED = re.compile(rf"([{LATIN}])([^\W\d_{LATIN}])|([^\W\d_{LATIN}])([{LATIN}])")
OTHER_SCRIPT = re.compile(rf"(?![\u0370-\u03ff\u1f00-\u1fffµªº\u02b0-\u02ff])[^\W\d_{LATIN}]")
IN_BRACKETS = re.compile(rf"[(（][^\W\d_{LATIN}]{{1,20}}[)）]")
"""A name in its own script, behind its Latin form: `Tokyo (東京)`."""
NO_SCRIPT = frozenset({"LATIN", "GREEK", "MICRO", "MODIFIER", "FEMININE", "MASCULINE"})
"""Signs that stand in words of any alphabet: `Hawaiʻi`, `µm`, `5ª`."""
EAST_ASIAN = frozenset({"CJK", "HIRAGANA", "KATAKANA"})


@dataclass(frozen=True, kw_only=True)
class Gibberish:
    """1 if an English answer is garbled, else 0; lower is better. None for a failed trial.

    Garbled means: too many letters outside ASCII, too many strange words, too many scripts, a script
    in the middle of Latin words, words run together, or next to no function words. A word is strange
    if it is unknown and not written as a name. Words of the question, its documents and its accepted
    answers, and scripts of the question and its accepted answers, are never held against an answer.
    Also known are the words of spaCy's small English pipeline (49,000, names and short word endings among
    them) and of the lexicon that ships; figures are not words.

    The thresholds were set on 110 answers that were read and labelled, and tried on 132 others of two models
    (tests/metrics/labelled_fluency.jsonl). Fluent nonsense is not gibberish.
    """

    version: ClassVar[int] = 3
    numbers: ClassVar[tuple[Measure, ...]] = (
        Measure(name="gibberish", unit="share", higher_is_better=False, title="Garbled answers"),
    )
    reads_trace: ClassVar[bool] = False
    packages: ClassVar[tuple[str, ...]] = PACKAGES
    max_non_ascii: float = 0.2
    """Share of letters outside ASCII that is still fine; those of names in Latin letters do not count."""
    max_unknown: float = 0.5
    """Share of strange words that is still fine in an answer of fewer than eight words."""
    max_strange: float = 0.1
    """Share of strange words that is still fine from eight words on; 1: `max_unknown` holds there too."""
    max_scripts: int = 2
    """Number of scripts that is still fine; Chinese and Japanese signs count as one script."""
    min_words: int = 3
    """Texts with fewer words are not judged by unknown words: a term alone may well be unknown."""

    min_function_words: float = 0.3
    """Share of words like `the`, `of`, `was` that a text must have among its words in lower case; 0: not asked. Asked
    only where a word is unknown and the text is no list: sentences of Wikipedia have 0.55 (median)."""

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        return score_each(
            "gibberish",
            records,
            questions,
            lambda answer, question: float(self._is_garbled(answer, question)),
            needs_answers=False,
        )

    def _is_garbled(self, answer: Answer, question: Question) -> bool:
        text = unicodedata.normalize("NFKC", answer.text)
        asked = scripts(" ".join([question.text, *question.answers, question.reference or ""]))
        if _is_glued(text, asked):
            return True
        text = _without(IN_BRACKETS.sub(" ", text), asked - {"LATIN", "GREEK"})
        # The documents are read only for the few answers that look strange without them.
        return len(scripts(text)) > self.max_scripts or (
            self._is_strange(text, frozenset()) and self._is_strange(text, _given(question))
        )

    def _is_strange(self, text: str, given: frozenset[str]) -> bool:
        words = WORD.findall(text)
        unknown = [word for word in words if not _is_known(word, given)]
        strange = [word for word in unknown if not NAME.fullmatch(_plain(word))]
        n_non_ascii = sum(not letter.isascii() for word in strange for letter in word)
        if n_non_ascii > self.max_non_ascii * sum(len(word) for word in words):
            return True
        if any(len(word) >= LONG and len(JOINT.findall(word)) >= 2 for word in strange):
            return True
        is_long = len(words) >= MANY_WORDS and self.max_strange < 1
        most = self.max_strange if is_long else self.max_unknown
        if len(words) >= self.min_words and len(strange) > most * len(words):
            return True
        return bool(unknown) and self._lacks_function_words(text, words)

    def _lacks_function_words(self, text: str, words: Sequence[str]) -> bool:
        n_function = sum(word.casefold() in stop_words() for word in words)
        n_plain = n_function + sum(word[0].islower() and word.casefold() not in stop_words() for word in words)
        is_list = 3 * len(SEPARATOR.findall(text)) >= len(words)
        return n_plain >= MANY_PLAIN_WORDS and not is_list and n_function < self.min_function_words * n_plain


def _is_glued(text: str, asked: set[str]) -> bool:
    """Whether a word of Latin letters goes on in a script that is not the question's, Greek aside: `all起き`."""
    pairs = GLUED.findall(text)
    return any(_script(letter) not in asked | NO_SCRIPT for pair in pairs for letter in pair if letter)


def _without(text: str, asked: set[str]) -> str:
    """The text without the letters of the scripts that it was asked in."""
    return "".join(" " if c.isalpha() and _script(c) in asked else c for c in text) if asked else text


def _is_known(word: str, given: frozenset[str]) -> bool:
    # Symbols of elements and units are short: `NaOH`, `kWh`.
    is_symbol = (len(word) <= 2 or (len(word) <= 4 and not word.islower())) and OTHER_SCRIPT.search(word) is None
    return is_symbol or word.casefold() in given or word.casefold() in english()


def _plain(word: str) -> str:
    """Without accents; what is no Latin letter stays."""
    decomposed = unicodedata.normalize("NFD", word.translate(STROKES))
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


@functools.cache
def english() -> frozenset[str]:
    """Every string that spaCy's small English pipeline knows, and the lexicon's words, without regard to case."""
    strings = weights.locate("en_core_web_sm") / "vocab" / "strings.json"
    of_spacy = (word for text in json.loads(strings.read_text(encoding="utf-8")) for word in words(text))
    entries = lexicon.load().entries
    return frozenset(of_spacy).union(*entries.values())


def words(text: str) -> list[str]:
    """The runs of letters, without regard to case; `don't` is two, as are both sides of a hyphen."""
    return [word.casefold() for word in WORD.findall(text)]


def scripts(text: str) -> set[str]:
    """The scripts of the letters, by the first word of their Unicode names: LATIN, GREEK, CYRILLIC ..."""
    # The compatibility form makes a Greek letter of the micro sign, and Latin ones of full-width letters.
    return {_script(c) for c in set(unicodedata.normalize("NFKC", text)) if c.isalpha()}


def _script(letter: str) -> str:
    word = unicodedata.name(letter, "UNNAMED").split()[0]
    return "EAST ASIAN" if word in EAST_ASIAN else word


def _given(question: Question) -> frozenset[str]:
    """The words that came with the question."""
    documents = [text for document in question.documents for text in (document.title, document.text)]
    return frozenset(words(" ".join([question.text, *question.answers, question.reference or "", *documents])))
