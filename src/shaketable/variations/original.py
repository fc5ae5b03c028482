"""The untouched wording, so that the clean case runs through the same code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from shaketable.types import Question, Variant


@dataclass(frozen=True, kw_only=True)
class Original:
    """Asks as the dataset asks."""

    version: ClassVar[int] = 1
    loads_nothing: ClassVar[bool] = True

    def vary(self, questions: Sequence[Question]) -> list[list[Variant]]:
        return [[Variant(question_id=q.id, text=q.text, variation="original")] for q in questions]
