"""A condition → one that a dry run can go through: parts that read weights have stand-ins that read none."""

from __future__ import annotations

import functools
import heapq
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from shaketable import catalog
from shaketable.protocols import CorpusRetriever, Perturbation, Retriever, WeightReadingPart
from shaketable.retrievers.corpus.corpora import Corpus, Entry
from shaketable.stages.plan import Condition
from shaketable.types import Hit, Passage, Query, Sentence

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
