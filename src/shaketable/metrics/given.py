"""What was an imported answer given where it was made?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from shaketable.metrics.scoring import GIVEN_SCORES
from shaketable.types import Measure, Note, Question, Record, Score


@dataclass(frozen=True, kw_only=True)
class Given:
    """The number that an imported answer came with, such as that of a scorer of Inspect; higher is better.

    It is taken as it is: 1 for correct, 0 for incorrect, or the scorer's own number. None for an answer that came
    without it.
    """

    version: ClassVar[int] = 1
    numbers: ClassVar[tuple[Measure, ...]] = (Measure(name="given_{name}", unit=None, higher_is_better=True),)

    name: str = "score"
    """What it is called where it was made: `includes`, `exact_match`."""

    def score(self, records: Sequence[Record], questions: Mapping[str, Question]) -> list[list[Score]]:
        return [[self._score(record)] for record in records]

    def _score(self, record: Record) -> Score:
        notes = [event.step for event in record.trace if isinstance(event.step, Note)]
        values = [note.values[self.name] for note in notes if note.name == GIVEN_SCORES and self.name in note.values]
        value = values[0] if values else None
        is_number = isinstance(value, int | float)
        return Score(
            key=record.trial.key,
            metric=f"given_{self.name}",
            value=float(value) if is_number else None,  # type: ignore[arg-type]
            reason=None if is_number else f"no {self.name} was given",
        )
