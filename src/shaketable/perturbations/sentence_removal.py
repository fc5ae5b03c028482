"""Remove sentences: those that carry the answer, given ones, or the fewest that cost a document its rank."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from shaketable.perturbations.altered import (
    Target,
    choose_last_half,
    choose_targets,
    disturbed,
    is_gold,
    remove,
    sentences_of,
    targets_with_answer,
)
from shaketable.perturbations.checks import check_choice, check_count
from shaketable.text.ranking import Documents
from shaketable.types import Evidence, Hit, Question

Mode = Literal["auto", "last_half", "answer", "indexes", "leave_one_out", "counterfactual"]


@dataclass(frozen=True, kw_only=True)
class SentenceRemoval:
    """Remove what holds the answer. `last_half` is `remove_half` of TempPerturb-Eval (arXiv 2512.01183).

    Positions count the sentences of the evidence in reading order from 0. A sentence goes by its place: another
    one with the same text stays, where RAG-Ex deletes every copy.
    """

    version: ClassVar[int] = 1

    mode: Mode = "auto"
    """`auto`: where the data mark supporting sentences, the last floor(n/2) of them, a single one itself; else every
    sentence in which a reference answer occurs; else the half of all sentences that is most like the question.
    `last_half`: the last floor(n/2) of the marked sentences; of all, in reading order, where none is marked. `answer`:
    every sentence in which a reference answer occurs. `indexes`: those at `indexes`. `leave_one_out`: the one at
    `index`. `counterfactual`: the smallest set whose removal puts the best-ranked gold document of the evidence below
    rank `k`, equal sizes in lexicographic order. The ranker is BM25 with the question over the record's documents, each
    as the evidence shows it."""
    indexes: tuple[int, ...] = ()
    index: int = 0
    k: int = 1
    max_size: int = 3
    """Sentences in a counterfactual set at most."""

    def __post_init__(self) -> None:
        check_choice("mode", self.mode, Mode)
        check_count("index", self.index)
        check_count("k", self.k, 1)
        check_count("max_size", self.max_size, 1)
        for position in self.indexes:
            check_count("a position in indexes", position)

    def perturb(self, questions: Sequence[Question], hits: Sequence[Sequence[Hit]]) -> list[Evidence]:
        return [self._removed(question, own) for question, own in zip(questions, hits, strict=True)]

    def _removed(self, question: Question, hits: Sequence[Hit]) -> Evidence:
        match self.mode:
            case "auto":
                targets, flags = choose_targets(question, hits)
            case "last_half":
                targets, flags = choose_last_half(question, hits)
            case "answer":
                targets, flags = _with_the_answer(question, hits)
            case "indexes":
                targets, flags = _at(self.indexes, hits)
            case "leave_one_out":
                targets, flags = _at((self.index,), hits)
            case "counterfactual":
                targets, flags = self._counterfactual(question, hits)
        return disturbed(hits, map(remove, targets), flags)

    def _counterfactual(self, question: Question, hits: Sequence[Hit]) -> tuple[list[Target], list[str]]:
        sentences = _by_document(question, hits)
        places = {id: i for i, id in enumerate(sentences)}
        ranked = Documents.of([_text(targets) for targets in sentences.values()])
        gold = {hit.passage.id for hit in hits if hit.passage.sentences and is_gold(question, hit.passage)}
        if not gold:
            return [], ["no_gold_document"]
        rank, best = min((ranked.rank(question.text, places[id]), id) for id in gold)
        if rank > self.k:
            return [], ["already_below_rank"]
        for removed in _subsets(sentences[best], self.max_size):
            left = [target for target in sentences[best] if target not in removed]
            if ranked.with_text(places[best], _text(left)).rank(question.text, places[best]) > self.k:
                return removed, []
        return [], ["no_counterfactual"]


def _with_the_answer(question: Question, hits: Sequence[Hit]) -> tuple[list[Target], list[str]]:
    targets = targets_with_answer(question, sentences_of(hits))
    return targets, [] if targets else ["no_sentence_with_answer"]


def _at(positions: Sequence[int], hits: Sequence[Hit]) -> tuple[list[Target], list[str]]:
    sentences = sentences_of(hits)
    targets = [sentences[position] for position in sorted(set(positions)) if position < len(sentences)]
    return targets, ["no_such_sentence"] if len(targets) < len(set(positions)) else []


def _by_document(question: Question, hits: Sequence[Hit]) -> dict[str, list[Target]]:
    """The sentences of each document: those the hits show, or all of a document that no hit shows."""
    targets: dict[str, list[Target]] = {}
    for hit in hits:
        own = targets.setdefault(hit.passage.id, [])
        own += [target for target in sentences_of([hit]) if target not in own]
    for document in question.documents:
        if document.id not in targets:
            targets[document.id] = [Target(sentence=sentence, title=document.title) for sentence in document.sentences]
    return targets


def _text(targets: Sequence[Target]) -> str:
    return " ".join(target.sentence.text for target in targets)


def _subsets(targets: Sequence[Target], max_size: int) -> Iterator[list[Target]]:
    for size in range(1, max_size + 1):
        yield from map(list, itertools.combinations(targets, size))
