"""Does the answer contain an accepted answer?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from shaketable.normalize import YES_NO, contains_words, words
from shaketable.scoring import score_each
from shaketable.types import Question, Record, Score


@dataclass(frozen=True, kw_only=True)
class Contains:
    """1 if an accepted answer occurs in the answer, else 0; higher is better.

    None for a failed trial and for a question without accepted answers.
    """

    version: ClassVar[int] = 1
    match: Literal["substring", "token"] = "substring"
    """`substring`: the same characters, whatever their case; `token`: the same whole words in a row,
    articles and punctuation aside (InAccuracy of AdaRAGUE)."""

    def __post_init__(self) -> None:
        if self.match not in ("substring", "token"):
            raise ValueError(f"match is {self.match!r}, expected 'substring' or 'token'.")

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        return score_each(
            "contains",
            records,
            questions,
            lambda answer, question: float(any(self._occurs(gold, answer.text) for gold in question.answers)),
            needs_answers=True,
        )

    def _occurs(self, gold: str, text: str) -> bool:
        sought = gold.strip().casefold()
        # A gold "no" is a word of its own: as characters it would be found in "know" and "north".
        if self.match == "token" or sought in YES_NO:
            return contains_words(words(gold), words(text))
        return sought != "" and sought in text.casefold()
