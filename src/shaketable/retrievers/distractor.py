"""All documents of the record, gold and distracting."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

from shaketable.retrievers.record_evidence import RecordEvidence
from shaketable.types import Passage, Question


@dataclass(frozen=True, kw_only=True)
class Distractor(RecordEvidence):
    """The documents in the record's order, whatever `k` is; none for a question without documents."""

    source: ClassVar[str] = "distractor"
    needs: ClassVar[Literal["documents", "supporting"]] = "documents"

    def passages(self, question: Question) -> Iterable[Passage]:
        return question.documents
