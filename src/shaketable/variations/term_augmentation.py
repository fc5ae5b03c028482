"""The fewest words of a supporting document, added to the question, that put the document on top."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from shaketable import catalog
from shaketable.text.ranking import Documents, terms
from shaketable.types import Passage, Question, Variant
from shaketable.variations.gate.refusal import Refusal, refuse

FUNCTION_WORDS = """
a about after all also an and any are as at be been before both but by can could did do does each either for from had
has have he her here hers him his how i if in into is it its many may me more most much my neither no nor not of on or
other our out over own same she so some such than that the their them then there these they this those through to too
under until up us very was we were what when where which while who whom whose why will with without would you your
"""
"""Words that nobody would search for, though a small record can make them look rare."""


@dataclass(frozen=True, kw_only=True)
class TermAugmentation:
    """Sets of terms are tried by size, then in tf-idf order, until BM25 over the record's documents is content.

    The document to lift is the gold one that ranks lowest; documents are ranked by title and text. Its terms may
    name the answer: compare answers, not only ranks, with that in mind. A question whose gold documents all rank
    well enough needs no term and stays as it is.
    """

    version: ClassVar[int] = 1

    k: int = 1
    """The rank to reach, or a better one. With two gold documents the lower one is lifted past the other."""
    max_terms: int = 3
    """0 leaves every question as it is."""
    n_candidates: int = 10
    """Terms to choose from: the document's heaviest that the question does not have, function words left out."""

    def __post_init__(self) -> None:
        for setting, value, least in (
            ("k", self.k, 1),
            ("max_terms", self.max_terms, 0),
            ("n_candidates", self.n_candidates, 1),
        ):
            if value < least:
                raise ValueError(f"{setting} is {value}, expected {least} or more")

    def vary(self, questions: Sequence[Question]) -> list[list[Variant]]:
        return [[self._augmented(question)] for question in questions]

    def _augmented(self, question: Question) -> Variant:
        variant = Variant(question_id=question.id, text=question.text, variation=catalog.label(self))
        if self.max_terms == 0:
            return variant
        gold = [place for place, document in enumerate(question.documents) if document.title in question.gold_titles]
        if not gold:
            text = "nothing to add: the question has no gold document"
            return refuse(variant, Refusal(kind="nothing_to_add", text=text))
        documents = Documents.of([_shown(document) for document in question.documents])
        rank, place = max((documents.rank(question.text, place), -place) for place in gold)
        place, target = -place, question.documents[-place]
        for added in self._sets(question, documents, place):
            text = " ".join([question.text, *(_surface(target, term) for term in added)])
            if (reached := documents.rank(text, place)) <= self.k:
                return Variant(
                    question_id=question.id,
                    text=text,
                    variation=variant.variation,
                    provenance={
                        "document": target.title,
                        "terms": list(added),
                        "rank_before": rank,
                        "rank_after": reached,
                    },
                )
        text = f"no set of {self.max_terms} terms or fewer lifts '{target.title}' from rank {rank} to {self.k}"
        return refuse(variant, Refusal(kind="no_set_of_terms_is_enough", text=text))

    def _sets(self, question: Question, documents: Documents, place: int) -> Iterator[tuple[str, ...]]:
        asked = {*FUNCTION_WORDS.split(), *terms(question.text)}
        heaviest = [term for term in documents.by_weight(place) if term not in asked][: self.n_candidates]
        for size in range(self.max_terms + 1):
            yield from itertools.combinations(heaviest, size)


def _shown(document: Passage) -> str:
    return f"{document.title} {document.text}"


def _surface(document: Passage, term: str) -> str:
    """A term as the document first writes it."""
    return next((word for word in re.findall(r"\w+", _shown(document)) if terms(word) == [term]), term)
