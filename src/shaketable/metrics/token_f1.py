"""How many words do the answer and an accepted answer share?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from shaketable.metrics.scoring import score_each
from shaketable.text.normalization import YES_NO, squad
from shaketable.text.plain import pieces
from shaketable.types import Measure, Question, Record, Score


@dataclass(frozen=True, kw_only=True)
class TokenF1:
    """F1 of shared words, articles aside, the best over the accepted answers: 0 to 1, higher is better.

    None for a failed trial and for a question without accepted answers.
    """

    version: ClassVar[int] = 2
    numbers: ClassVar[tuple[Measure, ...]] = (
        Measure(name="token_f1", unit="score", higher_is_better=True, maximum=1.0),
    )
    reads_trace: ClassVar[bool] = False
    needs_answers: ClassVar[bool] = True
    normalization: Literal["plain", "squad"] = "plain"
    """`plain`: as `correct` reads words and numbers; `squad`: as the SQuAD evaluation script does."""
    strict_yes_no: bool = False
    """True: 0 where one side is exactly yes or no and the other is something else, as DRAGIN's code has it."""

    def __post_init__(self) -> None:
        if self.normalization not in ("plain", "squad"):
            raise ValueError(f"normalization is {self.normalization!r}, expected 'plain' or 'squad'.")

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        return score_each(
            "token_f1",
            records,
            questions,
            lambda answer, question: max(self._f1(answer.text, gold) for gold in question.answers),
            needs_answers=self.needs_answers,
        )

    def _f1(self, text: str, gold: str) -> float:
        answered, wanted = self._words(text), self._words(gold)
        if self.strict_yes_no and answered != wanted and any(YES_NO & {" ".join(side)} for side in (answered, wanted)):
            return 0.0
        n_shared = (Counter(answered) & Counter(wanted)).total()
        # Two texts that normalize to nothing share no word: 0, as in the SQuAD script.
        return 2 * n_shared / (len(answered) + len(wanted)) if n_shared else 0.0

    def _words(self, text: str) -> list[str]:
        return squad(text).split() if self.normalization == "squad" else pieces(text)
