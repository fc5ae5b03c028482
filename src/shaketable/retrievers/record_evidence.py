"""Evidence that comes with a question: what gold, full_gold and distractor share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Literal

from shaketable.types import Hit, Passage, Query, Question


class RecordEvidence:
    """All passages come back whatever `k` is: given evidence is not ranked, so it is not cut."""

    version: ClassVar[int] = 1
    source: ClassVar[str]
    needs: ClassVar[Literal["documents", "supporting"]]
    """What records must have, some of them at least; a study on others is refused."""

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        return [
            [
                Hit(passage=passage, rank=rank, score=None, source=self.source)
                for rank, passage in enumerate(self.passages(query.question), 1)
            ]
            for query in queries
        ]

    def passages(self, question: Question) -> Iterable[Passage]:
        raise NotImplementedError
