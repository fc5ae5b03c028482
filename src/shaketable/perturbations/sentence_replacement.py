"""Replace the sentences that carry the answer by irrelevant ones of the same document."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from shaketable.identity import seed_from
from shaketable.perturbations.altered import Target, choose_targets, exchange, replay
from shaketable.types import Edit, Evidence, Hit, Question, Sentence


@dataclass(frozen=True, kw_only=True)
class SentenceReplacement:
    """`replace_half` of TempPerturb-Eval (arXiv 2512.01183).

    Each of the last floor(n/2) facts, or of the sentences with the answer where none is marked, gives its place to a
    sentence of the same title that supports nothing, drawn without replacement. The paper does not say what happens
    when none is left; here the donor then comes from another gold title, else from any other document of the record,
    else the fact stays. Each of these leaves a flag. With whole documents as evidence, a donor may stand there already.
    """

    version: ClassVar[int] = 2

    seed: int = 0

    def perturb(self, questions: Sequence[Question], hits: Sequence[Sequence[Hit]]) -> list[Evidence]:
        return [self._replaced(question, own) for question, own in zip(questions, hits, strict=True)]

    def _replaced(self, question: Question, hits: Sequence[Hit]) -> Evidence:
        targets, flags = choose_targets(question, hits)
        rng = random.Random(seed_from(self.seed, "sentence_replacement", question.id))
        donors = _Donors(question, hits, targets)
        edits: list[Edit] = []
        for target in targets:
            origin, donor = donors.draw(target, rng)
            if donor:
                edits.append(exchange(target, donor, origin))
            if origin != "same_title":
                flags.append(f"fallback_{origin}")
        return Evidence(hits=replay(hits, edits), edits=tuple(edits), flags=tuple(dict.fromkeys(flags)))


class _Donors:
    """The sentences of a record that support nothing and were not drawn yet, by title."""

    def __init__(self, question: Question, hits: Sequence[Hit], targets: Sequence[Target]) -> None:
        self.gold_titles = question.gold_titles
        supporting = set(question.supporting)
        # By text too: some documents say the same sentence twice.
        unwanted = {target.sentence.text for target in targets}
        unwanted |= {
            sentence.text
            for document in question.documents
            for sentence in document.sentences
            if sentence.id in supporting
        }
        # Real retrievers find documents that the record does not have.
        known = {document.title for document in question.documents}
        retrieved = {hit.passage.id: hit.passage for hit in hits if hit.passage.title not in known}
        self.by_title: dict[str, list[Sentence]] = {}
        for document in (*question.documents, *retrieved.values()):
            donors = [sentence for sentence in document.sentences if sentence.text not in unwanted]
            self.by_title.setdefault(document.title, []).extend(donors)

    def draw(self, target: Target, rng: random.Random) -> tuple[str, Sentence | None]:
        """Where the donor comes from, and the donor; `unchanged` and None when the record has none left."""
        for origin, titles in self._levels(target.title):
            pool = [(title, sentence) for title in titles for sentence in self.by_title.get(title, ())]
            if pool:
                title, donor = rng.choice(pool)
                self.by_title[title].remove(donor)
                return origin, donor
        return "unchanged", None

    def _levels(self, own: str) -> Iterator[tuple[str, list[str]]]:
        yield "same_title", [own]
        yield "other_gold_title", [title for title in self.gold_titles if title != own]
        yield "other_document", [title for title in self.by_title if title not in (own, *self.gold_titles)]
