"""Another sentence or passage takes the place of one in the evidence."""

from __future__ import annotations

import functools
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from shaketable import catalog
from shaketable.identity import seed_from
from shaketable.perturbations.altered import (
    Target,
    bring,
    choose_targets,
    disturbed,
    exchange,
    is_gold,
    remove,
    sentences_of,
)
from shaketable.perturbations.checks import check_choice, check_count
from shaketable.types import Edit, Evidence, Hit, Passage, Question, Sentence

Unit = Literal["sentence", "passage"]
Pool = Literal["same_title", "same_record", "corpus", "higher_ranked"]


@dataclass(frozen=True, kw_only=True)
class UnitReplacement:
    """Each replaced unit gives its place to a donor that supports nothing, drawn without replacement.

    There is no other pool to fall back on: a unit without a donor stays, with the flag `no_donor`. The paper's own
    replacement, with its fallbacks, is `sentence_replacement`.
    """

    version: ClassVar[int] = 2

    unit: Unit = "sentence"
    pool: Pool = "same_title"
    """Donors come from: passages with the title of the unit; other documents of the record; documents of `corpus`
    that the record does not have; hits that rank above the unit, whose text the evidence then holds twice."""
    index: int | None = None
    """The one unit that is replaced, from 0 in reading order. None: the sentences that carry the answer, or the later
    half of the gold passages; of all passages where there is no gold."""
    corpus: str = "builtin"
    """A dataset with its settings, such as `hotpotqa(path='train.json')`; read for the pool `corpus` alone."""
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("unit", self.unit, Unit)
        check_choice("pool", self.pool, Pool)
        if self.index is not None:
            check_count("index", self.index)

    def perturb(self, questions: Sequence[Question], hits: Sequence[Sequence[Hit]]) -> list[Evidence]:
        replaced = self._sentences_replaced if self.unit == "sentence" else self._passages_replaced
        return [replaced(question, own) for question, own in zip(questions, hits, strict=True)]

    # --- sentences

    def _sentences_replaced(self, question: Question, hits: Sequence[Hit]) -> Evidence:
        if self.index is None:
            targets, flags = choose_targets(question, hits)
        else:
            targets = sentences_of(hits)[self.index : self.index + 1]
            flags = [] if targets else ["no_such_unit"]
        facts = set(question.supporting)
        supporting = {s.text for document in question.documents for s in document.sentences if s.id in facts}
        unwanted = supporting | {target.sentence.text for target in targets}
        rng = self._rng(question)
        edits: list[Edit] = []
        drawn: set[str] = set()
        for target in targets:
            pool = [
                sentence
                for sentence in self._sentence_donors(question, hits, target)
                if sentence.text not in unwanted and sentence.id not in drawn
            ]
            if pool:
                donor = rng.choice(pool)
                drawn.add(donor.id)
                edits.append(exchange(target, donor, self.pool))
            else:
                flags.append("no_donor")
        return disturbed(hits, edits, flags)

    def _sentence_donors(self, question: Question, hits: Sequence[Hit], target: Target) -> list[Sentence]:
        i = next(n for n, hit in enumerate(hits) if target.sentence in hit.passage.sentences)
        passages = self._donors(question, hits, i)
        return list({sentence.id: sentence for passage in passages for sentence in passage.sentences}.values())

    # --- passages

    def _passages_replaced(self, question: Question, hits: Sequence[Hit]) -> Evidence:
        places, flags = self._passage_places(question, hits)
        rng = self._rng(question)
        # Passages above the unit are shown already, and that is the point of the pool.
        avoided = places if self.pool == "higher_ranked" else range(len(hits))
        shown = {hits[i].passage.id for i in avoided}
        edits: list[Edit] = []
        for i in places:
            pool = [
                passage
                for passage in self._donors(question, hits, i)
                if passage.id not in shown and passage.sentences and not is_gold(question, passage)
            ]
            if pool:
                donor = rng.choice(pool)
                shown.add(donor.id)
                edits += map(remove, sentences_of([hits[i]]))
                edits += bring(donor, i + 1, "unit_replacement", self.pool)
            else:
                flags.append("no_donor")
        return disturbed(hits, edits, flags)

    def _passage_places(self, question: Question, hits: Sequence[Hit]) -> tuple[list[int], list[str]]:
        seen = Counter(sentence.id for hit in hits for sentence in hit.passage.sentences)
        filled = [i for i, hit in enumerate(hits) if hit.passage.sentences]
        # A passage that shares a sentence with another hit cannot go alone.
        alone = [i for i in filled if all(seen[s.id] == 1 for s in hits[i].passage.sentences)]
        flags = ["shared_sentences"] if len(alone) < len(filled) else []
        filled = alone
        if self.index is not None:
            return filled[self.index : self.index + 1], flags + ["no_such_unit"] * (self.index >= len(filled))
        gold = [i for i in filled if is_gold(question, hits[i].passage)]
        candidates = gold or filled
        if not gold:
            flags.append("no_gold_passage")
        if len(candidates) < 2:
            flags.append("too_few_passages")
        return candidates[len(candidates) - len(candidates) // 2 :], flags

    # --- donors

    def _donors(self, question: Question, hits: Sequence[Hit], i: int) -> list[Passage]:
        title = hits[i].passage.title
        # Real retrievers find passages that the record does not have.
        known = {document.id: document for document in question.documents}
        record = {**{hit.passage.id: hit.passage for hit in hits}, **known}
        match self.pool:
            case "same_title":
                return [passage for passage in record.values() if passage.title == title]
            case "same_record":
                return [passage for passage in record.values() if passage.title != title]
            case "corpus":
                titles = {passage.title for passage in record.values()}
                return [passage for passage in _corpus(self.corpus) if passage.title not in titles]
            case "higher_ranked":
                return [hit.passage for hit in hits[:i]]

    def _rng(self, question: Question) -> random.Random:
        return random.Random(seed_from(self.seed, "unit_replacement", question.id))


@functools.cache
def _corpus(text: str) -> tuple[Passage, ...]:
    """The documents of a dataset, by the name and settings that a text gives."""
    name, settings = catalog.parse(text)
    corpus: tuple[Passage, ...] = catalog.find("dataset", name)(**settings).corpus
    return corpus
