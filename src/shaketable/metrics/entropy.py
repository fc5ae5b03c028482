"""How undecided was the model while it wrote the answer?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from shaketable.facts.score import GIVEN_ENTROPY, entropy_of_top
from shaketable.metrics.token_extras import NO_TOKENS, extra, score_tokens
from shaketable.types import Completion, Measure, Note, Question, Record, Score

BASES = {"10": 10.0, "e": math.e, "2": 2.0}


@dataclass(frozen=True, kw_only=True)
class Entropy:
    """Mean entropy of the most likely tokens over the positions of the answer; lower is more decided.

    0 to 1 with base 10 and ten tokens. None for a failed trial, and where the model gave no or too few `top_logprobs`.
    As in "From Confidence to Collapse", the distribution is the model's own, at temperature 1, and is not renormalized.
    An entropy that an import gives is taken as it is.
    """

    version: ClassVar[int] = 1
    numbers: ClassVar[tuple[Measure, ...]] = (Measure(name="entropy", unit="score", higher_is_better=None),)
    base: Literal["10", "e", "2"] = "10"
    renormalize: bool = False
    """Divide the probabilities of the top tokens by their sum."""
    include_end: bool = False
    """Count the token after the answer, its end mark, as a position."""
    skip_blank: bool = False
    """Leave out a first token of white space alone."""
    n_top: int = 10
    """Tokens at each position."""
    scaled: bool = False
    """Take the distribution at the temperature that was sampled; at temperature 0 its entropy is 0."""

    def __post_init__(self) -> None:
        if self.base not in BASES:
            raise ValueError(f"base is {self.base!r}, expected one of {', '.join(BASES)}.")
        if self.n_top < 1:
            raise ValueError(f"n_top is {self.n_top}, expected 1 or more.")

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        scored = score_tokens("entropy", records, self._mean)
        return [
            one if given is None else [Score(key=record.trial.key, metric="entropy", value=given)]
            for record, one, given in zip(records, scored, map(_given, records), strict=True)
        ]

    def _mean(self, completion: Completion, n: int) -> float | str:
        tops: Any = extra(completion, "top_logprobs")
        if isinstance(tops, str):
            return tops
        end = min(n + 1, len(tops)) if self.include_end else n
        start = int(self.skip_blank and completion.tokens[0].strip() == "")
        if start >= end:
            return NO_TOKENS
        shortest = min(len(top) for top in tops[start:end])
        if shortest < self.n_top:
            return f"a position has {shortest} top_logprobs, entropy asks for {self.n_top}"
        shifts = self._scales(completion) if self.scaled else [(1.0, 0.0)] * len(tops)
        if isinstance(shifts, str):
            return shifts
        return math.fsum(
            self._at(top, *shift) for top, shift in zip(tops[start:end], shifts[start:end], strict=True)
        ) / (end - start)

    def _at(self, top: Sequence[tuple[str, float]], temperature: float, log_total: float) -> float:
        if temperature == 0:
            return 0.0
        best = sorted((float(logprob) for _, logprob in top), reverse=True)[: self.n_top]
        probabilities = [math.exp(logprob / temperature - log_total) for logprob in best]
        return entropy_of_top(probabilities, base=BASES[self.base], renormalize=self.renormalize)

    def _scales(self, completion: Completion) -> list[tuple[float, float]] | str:
        """Temperature and log Σ p^(1/t) of each position: the chosen token is known before and after scaling."""
        used: Any = completion.decoding
        if used.get("top_p", 1.0) != 1 or used.get("top_k", 0) != 0 or used.get("repetition_penalty", 1.0) != 1:
            return "truncated or penalized sampling has another distribution than temperature alone"
        before: Any = extra(completion, "logprobs")
        after: Any = extra(completion, "processed_logprobs")
        if isinstance(before, str) or isinstance(after, str) or "temperature" not in used:
            return next(one for one in (before, after, "the temperature used is not known") if isinstance(one, str))
        t = float(used["temperature"])
        if t == 0:
            return [(0.0, 0.0)] * len(before)
        return [(t, one / t - scaled) for one, scaled in zip(before, after, strict=True)]


def _given(record: Record) -> float | None:
    steps = (event.step for event in record.trace)
    values = [step.values["value"] for step in steps if isinstance(step, Note) and step.name == GIVEN_ENTROPY]
    return float(values[0]) if values and record.failure is None else None  # type: ignore[arg-type]
