"""The supporting sentences of the question at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from shaketable.types import Hit, Query


@dataclass(frozen=True, kw_only=True)
class Gold:
    """One hit for each supporting fact, in the dataset's order; none for a question without facts.

    All facts come back whatever `k` is: given evidence is not ranked, so it is not cut.
    """

    version: ClassVar[int] = 1
    needs: ClassVar[Literal["documents", "supporting"]] = "supporting"
    """What records must have, some of them at least; a study on others is refused."""

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        return [_supporting_sentences(query) for query in queries]


def _supporting_sentences(query: Query) -> list[Hit]:
    stands = {
        sentence.id: (document, sentence) for document in query.question.documents for sentence in document.sentences
    }
    facts = [stands[id] for id in query.question.supporting]
    return [
        Hit(passage=replace(document, sentences=(sentence,)), rank=rank, score=None, source="gold")
        for rank, (document, sentence) in enumerate(facts, 1)
    ]
