"""The evidence as it was found: the clean case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from shaketable.types import Evidence, Hit, Question


@dataclass(frozen=True, kw_only=True)
class Unchanged:
    """Changes nothing, so that the clean case runs through the same code."""

    version: ClassVar[int] = 1

    def perturb(self, questions: Sequence[Question], hits: Sequence[Sequence[Hit]]) -> list[Evidence]:
        return [Evidence(hits=tuple(own)) for _, own in zip(questions, hits, strict=True)]
