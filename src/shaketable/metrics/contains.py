"""Does the answer contain an accepted answer?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from shaketable.metrics.scoring import accepted, score_each
from shaketable.text.normalization import contains_words, in_word, is_short, occurs, words
from shaketable.text.plain import occurs_whole
from shaketable.types import Answer, Measure, Question, Record, Score

RESULT = re.compile(r"<\|begin_search_result\|>.*?(<\|end_search_result\|>|$)", re.DOTALL)
"""What a search brought stands between these marks (Search-o1); the model did not say it."""


@dataclass(frozen=True, kw_only=True)
class Contains:
    """1 if an accepted answer occurs in the answer, else 0; higher is better.

    Whole words and numbers count: `iron` is not in `environment`, `12` not in `12.5`. Case, accents, quotes, spaces,
    Markdown and thousands separators do not.
    None for a failed trial and for a question without accepted answers.
    """

    version: ClassVar[int] = 3
    numbers: ClassVar[tuple[Measure, ...]] = (
        Measure(name="contains", unit="share", higher_is_better=True, words="correctness", title="Correct answers"),
    )
    reads_trace: ClassVar[bool] = False
    needs_answers: ClassVar[bool] = True
    match: Literal["whole", "substring", "token", "startswith"] = "whole"
    """`whole`: the same whole words and numbers in a row; `token`: the same, as InAccuracy of AdaRAGUE has it (other
    spellings of a word or number count as others); `substring`: the same characters, whatever their case, up to three
    of them only as a word; `startswith`: those at the beginning of the answer."""
    scored: Literal["answer", "full_output"] = "answer"
    """`full_output`: all that the method wrote on its way, less the search results in it."""
    aliases: bool = True
    """False: only the canonical accepted answer counts, which is the first, where the dataset names one."""

    def __post_init__(self) -> None:
        if self.match not in ("whole", "substring", "token", "startswith"):
            raise ValueError(f"match is {self.match!r}, expected 'whole', 'substring', 'token' or 'startswith'.")
        if self.scored not in ("answer", "full_output"):
            raise ValueError(f"scored is {self.scored!r}, expected 'answer' or 'full_output'.")

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        return score_each(
            "contains",
            records,
            questions,
            self._judge,
            needs_answers=self.needs_answers,
        )

    def _judge(self, answer: Answer, question: Question) -> float:
        text = self._text(answer)
        return float(any(self._occurs(gold, text) for gold in accepted(question, aliases=self.aliases)))

    def _text(self, answer: Answer) -> str:
        if self.scored == "answer" or not answer.working:
            return answer.text
        return RESULT.sub(" ", answer.working)

    def _occurs(self, gold: str, text: str) -> bool:
        if self.match == "whole":
            return occurs_whole(gold, text)
        if self.match == "token":
            return contains_words(words(gold), words(text))
        if self.match == "substring":
            return occurs(gold, text)
        sought, within = gold.strip().casefold(), text.strip().casefold()
        behind = within[len(sought) :][:1]
        is_cut = is_short(gold) and behind != "" and in_word(behind)
        return sought != "" and within.startswith(sought) and not is_cut
