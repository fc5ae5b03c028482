"""Does the answer contain an accepted answer?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from shaketable.normalize import YES_NO, contains_words, words
from shaketable.scoring import score_each
from shaketable.types import Answer, Measure, Question, Record, Score

RESULT = re.compile(r"<\|begin_search_result\|>.*?(<\|end_search_result\|>|$)", re.DOTALL)
"""What a search brought stands between these marks (Search-o1); the model did not say it."""


@dataclass(frozen=True, kw_only=True)
class Contains:
    """1 if an accepted answer occurs in the answer, else 0; higher is better.

    None for a failed trial and for a question without accepted answers.
    """

    version: ClassVar[int] = 1
    numbers: ClassVar[tuple[Measure, ...]] = (
        Measure(name="contains", unit="share", higher_is_better=True, words="correctness", title="Correct answers"),
    )
    reads_trace: ClassVar[bool] = False
    match: Literal["substring", "token", "startswith"] = "substring"
    """`substring`: the same characters, whatever their case; `startswith`: at the beginning of the answer; `token`: the
    same whole words in a row, articles and punctuation aside (InAccuracy of AdaRAGUE)."""
    scored: Literal["answer", "full_output"] = "answer"
    """`full_output`: all that the method wrote on its way, less the search results in it."""

    def __post_init__(self) -> None:
        if self.match not in ("substring", "token", "startswith"):
            raise ValueError(f"match is {self.match!r}, expected 'substring', 'token' or 'startswith'.")
        if self.scored not in ("answer", "full_output"):
            raise ValueError(f"scored is {self.scored!r}, expected 'answer' or 'full_output'.")

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        return score_each(
            "contains",
            records,
            questions,
            lambda answer, question: float(any(self._occurs(gold, self._text(answer)) for gold in question.answers)),
            needs_answers=True,
        )

    def _text(self, answer: Answer) -> str:
        if self.scored == "answer" or not answer.working:
            return answer.text
        return RESULT.sub(" ", answer.working)

    def _occurs(self, gold: str, text: str) -> bool:
        sought = gold.strip().casefold()
        # A gold "no" is a word of its own: as characters it would be found in "know" and "north".
        if self.match == "token" or (self.match == "substring" and sought in YES_NO):
            return contains_words(words(gold), words(text))
        if self.match == "startswith":
            return sought != "" and text.strip().casefold().startswith(sought)
        return sought != "" and sought in text.casefold()
