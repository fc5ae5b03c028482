"""The whole documents that hold the supporting sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from shaketable.types import Hit, Query


@dataclass(frozen=True, kw_only=True)
class FullGold:
    """The gold documents in the order of their first fact; none for a question without facts.

    All come back whatever `k` is: given evidence is not ranked, so it is not cut.
    """

    version: ClassVar[int] = 1
    needs: ClassVar[Literal["documents", "supporting"]] = "supporting"
    """What records must have, some of them at least; a study on others is refused."""

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        return [_gold_documents(query) for query in queries]


def _gold_documents(query: Query) -> list[Hit]:
    home = {sentence.id: document for document in query.question.documents for sentence in document.sentences}
    documents = {home[id].id: home[id] for id in query.question.supporting}
    return [
        Hit(passage=document, rank=rank, score=None, source="full_gold")
        for rank, document in enumerate(documents.values(), 1)
    ]
