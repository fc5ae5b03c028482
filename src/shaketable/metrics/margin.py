"""How far was the best first token ahead of the second?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from shaketable.metrics.token_extras import NO_TOKENS, extra, score_tokens
from shaketable.types import Completion, Measure, Question, Record, Score


@dataclass(frozen=True, kw_only=True)
class Margin:
    """Log-probability (natural, at temperature 1) of the best first token less that of the second; higher is firmer.

    None for a failed trial, and where the model gave no `top_logprobs` or fewer than two.
    """

    version: ClassVar[int] = 1
    numbers: ClassVar[tuple[Measure, ...]] = (Measure(name="margin", unit="score", higher_is_better=None),)

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        return score_tokens("margin", records, self._first)

    def _first(self, completion: Completion, n: int) -> float | str:
        tops: Any = extra(completion, "top_logprobs")
        if isinstance(tops, str) or n == 0:
            return tops if isinstance(tops, str) else NO_TOKENS
        if len(tops[0]) < 2:
            return f"the first position has {len(tops[0])} top_logprobs, margin asks for 2"
        best, second = sorted((float(logprob) for _, logprob in tops[0]), reverse=True)[:2]
        return best - second
