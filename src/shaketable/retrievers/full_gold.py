"""The whole documents that hold the supporting sentences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

from shaketable.retrievers.record_evidence import RecordEvidence
from shaketable.types import Passage, Question


@dataclass(frozen=True, kw_only=True)
class FullGold(RecordEvidence):
    """The gold documents in the order of their first fact, whatever `k` is; none for a question without facts."""

    source: ClassVar[str] = "full_gold"
    needs: ClassVar[Literal["documents", "supporting"]] = "supporting"

    def passages(self, question: Question) -> Iterable[Passage]:
        home = {sentence.id: document for document in question.documents for sentence in document.sentences}
        return {home[id].id: home[id] for id in question.supporting}.values()
