"""Searches of methods → the evidence that retriever and perturbation give, each looked up once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from shaketable import catalog
from shaketable.errors import PartError, RetrieverDown
from shaketable.factors import UNCHANGED
from shaketable.protocols import Part, RecordRetriever
from shaketable.retrievers.corpus.passages import split_sentences
from shaketable.stages.plan import Condition
from shaketable.text.half_characters import mend
from shaketable.types import Evidence, Failure, Hit, Passage, Query, Question, Search, Sentence

KEPT_EVIDENCE = 40_000
"""Searches remembered, so that one question's temperatures and repeats share one search, and a study's second model
does not disturb the evidence of ten thousand questions anew. One takes 1 to 7 kB."""

NOT_HANDED_OVER = "not_handed_over"
"""The flag of evidence that a pipeline found and kept to itself, where it should have been disturbed."""

Given = TypeVar("Given")


class Asked(NamedTuple):
    condition: Condition
    question: Question
    step: Search


class EvidenceKey(NamedTuple):
    """Searches with one key have one reply."""

    batch: tuple[int, int, int]
    """Retriever, perturbation and k: what is searched and disturbed together."""
    question_id: str
    query: str


class EvidenceLookup:
    def __init__(self) -> None:
        self.kept: OrderedDict[EvidenceKey, Evidence | Failure] = OrderedDict()

    def find(self, asked: Sequence[Asked]) -> list[Evidence | Failure]:
        """A reply for each, alike ones found together."""
        searched = iter(self._search([one for one in asked if one.step.found is None]))
        return [next(searched) if one.step.found is None else _own(one, one.step.found) for one in asked]

    def _search(self, asked: Sequence[Asked]) -> list[Evidence | Failure]:
        keys = [_key(one) for one in asked]
        wanted = {key: one for key, one in zip(keys, asked, strict=True) if key not in self.kept}
        self._find(wanted)
        replies = [self.kept[key] for key in keys]
        # An engine that was down may be up again for the next search.
        for key in wanted:
            if isinstance(failure := self.kept[key], Failure) and failure.may_retry:
                del self.kept[key]
        while len(self.kept) > KEPT_EVIDENCE:
            self.kept.popitem(last=False)
        return replies

    def _find(self, wanted: Mapping[EvidenceKey, Asked]) -> None:
        """Search and disturb, one batch for each retriever, perturbation and k."""
        batches: dict[tuple[int, int, int], list[EvidenceKey]] = {}
        for key in wanted:
            batches.setdefault(key.batch, []).append(key)
        for keys in batches.values():
            condition, _, step = wanted[keys[0]]
            questions = [wanted[key].question for key in keys]
            queries = [Query(text=key.query, question=question) for key, question in zip(keys, questions, strict=True)]
            assert condition.retriever is not None and condition.perturbation is not None
            try:
                hits = mend(_for_each(condition.retriever, condition.retriever.search(queries, step.k), len(queries)))
            except RetrieverDown as error:
                down = Failure(kind="retriever", message=mend(str(error)), step="search", may_retry=True)
                self.kept.update(dict.fromkeys(keys, down))
                continue
            disturbed = _for_each(condition.perturbation, condition.perturbation.perturb(questions, hits), len(queries))
            for key, question, evidence in zip(keys, questions, mend(disturbed), strict=True):
                given = isinstance(condition.retriever, RecordRetriever)
                self.kept[key] = evidence if evidence.hits or not given else _no_evidence(question, condition)


def _key(asked: Asked) -> EvidenceKey:
    condition, question, step = asked
    return EvidenceKey((id(condition.retriever), id(condition.perturbation), step.k), question.id, step.query)


def _own(asked: Asked, found: tuple[Hit, ...]) -> Evidence:
    """What a pipeline found by itself, after the perturbation had its turn; passages that it leaves alone stay as they
    were handed over."""
    perturbation = asked.condition.perturbation
    if perturbation is None:
        return Evidence(hits=found)
    if not asked.step.is_handed_over:
        flags = () if catalog.label(perturbation) == UNCHANGED else (NOT_HANDED_OVER,)
        return Evidence(hits=found, flags=flags)
    split = [replace(hit, passage=_in_sentences(hit.passage)) for hit in found]
    [evidence] = mend(_for_each(perturbation, perturbation.perturb([asked.question], [split]), 1))
    as_handed = dict(zip((hit.passage for hit in split), (hit.passage for hit in found), strict=True))
    hits = [replace(hit, passage=as_handed.get(hit.passage, hit.passage)) for hit in evidence.hits]
    return replace(evidence, hits=tuple(hits))


def _in_sentences(passage: Passage) -> Passage:
    texts = split_sentences(passage.text)
    return replace(
        passage, sentences=tuple(Sentence(id=f"{passage.id}#{i}", text=text) for i, text in enumerate(texts))
    )


def _for_each(part: Part, given: list[Given], n: int) -> list[Given]:
    if len(given) != n:
        raise PartError(
            f"{catalog.label(part)} returned {len(given)} values for {n} questions. A component returns one for each."
        )
    return given


def _no_evidence(question: Question, condition: Condition) -> Failure:
    return Failure(
        kind="no_evidence",
        message=(
            f"Question {question.id} has no evidence for {condition.labels['retriever']}: its record holds no "
            "supporting sentences or documents. Use a dataset with evidence, another retriever, or closed_book."
        ),
        step="search",
        may_retry=False,
    )
