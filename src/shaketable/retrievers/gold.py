"""The supporting sentences of the question at hand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from shaketable.retrievers.record_evidence import RecordEvidence
from shaketable.types import Passage, Question


@dataclass(frozen=True, kw_only=True)
class Gold(RecordEvidence):
    """One hit for each supporting fact, in the dataset's order; none for a question without facts.

    All facts come back whatever `k` is: given evidence is not ranked, so it is not cut.
    """

    source: ClassVar[str] = "gold"
    needs: ClassVar[Literal["documents", "supporting"]] = "supporting"

    def passages(self, question: Question) -> Iterable[Passage]:
        stands = {
            sentence.id: (document, sentence) for document in question.documents for sentence in document.sentences
        }
        facts = [stands[id] for id in question.supporting]
        return [replace(document, sentences=(sentence,)) for document, sentence in facts]
