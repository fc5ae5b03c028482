"""A condition → one that a dry run can go through: parts that read weights have stand-ins that read none."""

from __future__ import annotations

import functools
import heapq
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from shaketable import catalog
from shaketable.analyses.evidence.undone import MOST_UNDONE, is_undone
from shaketable.factors import UNCHANGED
from shaketable.protocols import CorpusRetriever, Perturbation, RecordRetriever, Retriever, WeightReadingPart
from shaketable.retrievers.corpus.corpora import Corpus, Entry
from shaketable.stages.plan import Condition, Plan
from shaketable.types import Hit, Passage, Query, Question, Sentence, Undone

LOOKED_AT = 1000
"""Passages at the beginning of a corpus, of which the longest stand for what a search would bring."""


@dataclass(frozen=True, kw_only=True)
class LongestPassages:
    """Brings the same passages whatever it is asked: long ones, so that a bound stays a bound."""

    version: ClassVar[int] = 1

    corpus: str | None
    """None: the part that it stands for names none, and nothing is brought."""

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        entries = _longest(self.corpus, k) if self.corpus is not None else []
        hits = [
            Hit(passage=_passage(entry), rank=rank, score=None, source="rehearsal")
            for rank, entry in enumerate(entries, 1)
        ]
        return [hits for _ in queries]


REHEARSED = 64
"""Questions on which perturbations are tried."""
LARGE_CORPUS = 100_000_000
"""Bytes from which on a corpus is not searched before the run: its index may take minutes."""


def rehearse_perturbations(planned: Plan) -> list[Undone]:
    """The perturbations that would have no verdict, as far as the first questions say; no model is called.

    Each question searches once, in its own words. Retrievers and perturbations that read weights are not tried.
    """
    questions = planned.questions[:REHEARSED]
    tried: dict[tuple[str | None, str | None, int], list[list[str]]] = {}
    undone = []
    for condition in planned.conditions:
        retriever, perturbation, labels = condition.retriever, condition.perturbation, condition.labels
        if retriever is None or perturbation is None or labels["perturbation"] == UNCHANGED:
            continue
        k = int(catalog.settings_of(condition.method).get("k") or 5)
        place = labels["retriever"], labels["perturbation"], k
        if place not in tried:
            tried[place] = _flags(retriever, perturbation, questions, k)
        failed = [own for own in tried[place] if is_undone(own)]
        if len(failed) > MOST_UNDONE * len(tried[place]):
            undone.append(
                Undone(
                    dataset=questions[0].dataset,
                    model=labels["model"] or "",
                    method=labels["method"] or "",
                    retriever=labels["retriever"],
                    perturbation=labels["perturbation"] or "",
                    n=len(failed),
                    n_asked=len(tried[place]),
                    flags=tuple(sorted({flag for own in failed for flag in own})),
                )
            )
    return undone


def _flags(retriever: Retriever, perturbation: Perturbation, questions: Sequence[Question], k: int) -> list[list[str]]:
    """Of the evidence of each question that has some; none where it cannot be tried here."""
    if isinstance(perturbation, WeightReadingPart) or not _is_light(retriever):
        return []
    try:
        found = retriever.search([Query(text=question.text, question=question) for question in questions], k)
        pairs = [(question, hits) for question, hits in zip(questions, found, strict=True) if hits]
        evidence = perturbation.perturb([question for question, _ in pairs], [hits for _, hits in pairs])
    except Exception:  # What fails here fails in the run too, and is reported there.
        return []
    return [[*own.flags] if own.edits else [*own.flags, "nothing_changed"] for own in evidence]


def _is_light(retriever: Retriever) -> bool:
    """Whether it searches without weights, and without an index that takes long to build."""
    if isinstance(retriever, WeightReadingPart) or catalog.lacks_packages("retriever", retriever):
        return False
    if isinstance(retriever, CorpusRetriever):
        return sum(file.stat().st_size for file in Corpus(name=retriever.corpus).files) < LARGE_CORPUS
    return isinstance(retriever, RecordRetriever)


def light(condition: Condition) -> Condition:
    """The condition, without what would load weights."""
    return replace(
        condition, retriever=_light_retriever(condition.retriever), perturbation=_light(condition.perturbation)
    )


def _light(perturbation: Perturbation | None) -> Perturbation | None:
    return _unchanged() if isinstance(perturbation, WeightReadingPart) else perturbation


def _light_retriever(retriever: Retriever | None) -> Retriever | None:
    if retriever is None or not isinstance(retriever, WeightReadingPart):
        return retriever
    return _longest_passages(retriever.corpus if isinstance(retriever, CorpusRetriever) else None)


@functools.cache
def _unchanged() -> Perturbation:
    return catalog.build("perturbation", "unchanged")


@functools.cache
def _longest_passages(corpus: str | None) -> LongestPassages:
    """One for all conditions, so that they share their searches."""
    return LongestPassages(corpus=corpus)


@functools.cache
def _longest(corpus: str, k: int) -> list[Entry]:
    entries = itertools.islice(Corpus(name=corpus).entries(), LOOKED_AT)
    return heapq.nlargest(k, entries, key=lambda entry: len(entry.title) + len(entry.whole))


def _passage(entry: Entry) -> Passage:
    return Passage(id=entry.id, title=entry.title, sentences=(Sentence(id=f"{entry.id}#0", text=entry.whole),))
