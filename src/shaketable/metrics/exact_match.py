"""Is the answer an accepted answer, and nothing else?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from shaketable.metrics.scoring import accepted, score_each
from shaketable.text.plain import NORMALIZATIONS
from shaketable.types import Answer, Measure, Question, Record, Score


@dataclass(frozen=True, kw_only=True)
class ExactMatch:
    """1 if the normalized answer equals a normalized accepted answer, else 0; higher is better.

    An empty answer never does, not even where an article is all that was asked for, of which `squad` leaves nothing.
    None for a failed trial and for a question without accepted answers.
    """

    version: ClassVar[int] = 4
    numbers: ClassVar[tuple[Measure, ...]] = (Measure(name="exact_match", unit="share", higher_is_better=True),)
    reads_trace: ClassVar[bool] = False
    needs_answers: ClassVar[bool] = True
    normalization: Literal["plain", "casefold_strip", "raw", "squad"] = "plain"
    """What does not count. `plain`: case, accents, quotes, spaces, Markdown, thousands separators, outer punctuation;
    `casefold_strip`: case, outer spaces and one final full stop; `squad`: case, articles and punctuation."""
    aliases: bool = True
    """False: only the canonical accepted answer counts, which is the first, where the dataset names one."""

    def __post_init__(self) -> None:
        if self.normalization not in NORMALIZATIONS:
            raise ValueError(f"normalization is {self.normalization!r}, expected one of {', '.join(NORMALIZATIONS)}.")

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        return score_each("exact_match", records, questions, self._judge, needs_answers=self.needs_answers)

    def _judge(self, answer: Answer, question: Question) -> float:
        normalize = NORMALIZATIONS[self.normalization]
        golds = accepted(question, aliases=self.aliases)
        return float(answer.text.strip() != "" and normalize(answer.text) in {normalize(gold) for gold in golds})
