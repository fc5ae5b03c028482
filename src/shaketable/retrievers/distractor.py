"""All documents of the record, gold and distracting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from shaketable.types import Hit, Query


@dataclass(frozen=True, kw_only=True)
class Distractor:
    """The documents in the record's order; none for a question without documents.

    All come back whatever `k` is: given evidence is not ranked, so it is not cut.
    """

    version: ClassVar[int] = 1
    needs: ClassVar[Literal["documents", "supporting"]] = "documents"
    """What records must have, some of them at least; a study on others is refused."""

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        return [
            [
                Hit(passage=document, rank=rank, score=None, source="distractor")
                for rank, document in enumerate(query.question.documents, 1)
            ]
            for query in queries
        ]
