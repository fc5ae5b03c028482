"""How many tokens long is the answer?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from shaketable.metrics.token_extras import score_tokens
from shaketable.types import Measure, Question, Record, Score


@dataclass(frozen=True, kw_only=True)
class AnswerTokens:
    """The number of tokens in the answer, its end mark aside; neither more nor less is better.

    None for a failed trial, and where the model gave no tokens.
    """

    version: ClassVar[int] = 1
    numbers: ClassVar[tuple[Measure, ...]] = (Measure(name="answer_tokens", unit="count", higher_is_better=None),)

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        return score_tokens("answer_tokens", records, lambda completion, n: float(n))
