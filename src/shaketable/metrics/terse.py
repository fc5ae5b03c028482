"""Is the answer a word or two?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from shaketable.metrics.scoring import score_each
from shaketable.types import Measure, Question, Record, Score


@dataclass(frozen=True, kw_only=True)
class Terse:
    """1 if the answer has few words or none, else 0; neither is better where a name is all that was asked for.

    Words are what white space parts. None for a failed trial.
    """

    version: ClassVar[int] = 1
    numbers: ClassVar[tuple[Measure, ...]] = (Measure(name="terse", unit="share", higher_is_better=None),)
    reads_trace: ClassVar[bool] = False
    max_words: int = 2
    """An answer with more words is not terse."""

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        return score_each(
            "terse",
            records,
            questions,
            lambda answer, _: float(len(answer.text.split()) <= self.max_words),
            needs_answers=False,
        )
