"""How likely were the tokens of the answer?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from shaketable.metrics.token_extras import NO_TOKENS, extra, score_tokens
from shaketable.types import Completion, Measure, Question, Record, Score


@dataclass(frozen=True, kw_only=True)
class Certainty:
    """Mean probability of the answer's tokens, from 0 to 1; higher is more certain. The end mark does not count.

    None for a failed trial, and where the model gave no log-probabilities.
    """

    version: ClassVar[int] = 1
    numbers: ClassVar[tuple[Measure, ...]] = (
        Measure(name="certainty", unit="score", higher_is_better=None, maximum=1.0),
    )
    scaled: bool = True
    """Take the distribution that was really sampled, where a greedy token has probability 1; False: the model's own."""

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        return score_tokens("certainty", records, self._mean)

    def _mean(self, completion: Completion, n: int) -> float | str:
        logprobs: Any = extra(completion, "processed_logprobs" if self.scaled else "logprobs")
        if isinstance(logprobs, str) or n == 0:
            return logprobs if isinstance(logprobs, str) else NO_TOKENS
        return math.fsum(math.exp(logprob) for logprob in logprobs[:n]) / n
