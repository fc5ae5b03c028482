"""What was an imported answer given where it was made?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from shaketable.metrics.scoring import GIVEN_SCORES, unscored
from shaketable.types import Measure, Note, Question, Record, Score


@dataclass(frozen=True, kw_only=True)
class Given:
    """The number that an imported answer came with, such as that of a scorer of Inspect; higher is better.

    It is taken as it is: 1 for correct, 0 for incorrect, or the scorer's own number. None for an answer that came
    without it, and for a failed trial.
    """

    version: ClassVar[int] = 1
    numbers: ClassVar[tuple[Measure, ...]] = (
        Measure(name="given@{number}", unit=None, higher_is_better=True, minimum=None),
    )

    number: str = "score"
    """What it is called where it was made: `includes`, `exact_match`."""

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        return [[self._score(record)] for record in records]

    def _score(self, record: Record) -> Score:
        notes = [event.step for event in record.trace if isinstance(event.step, Note)]
        values = [note.values.get(self.number) for note in notes if note.name == GIVEN_SCORES]
        value = next(iter(values), None)
        reason = unscored(record)
        is_number = isinstance(value, int | float) and reason is None
        return Score(
            key=record.trial.key,
            metric=f"given@{self.number}",
            value=float(value) if is_number else None,  # type: ignore[arg-type]
            reason=None if is_number else reason or f"no {self.number} was given",
        )
