"""Evidence with some of its sentences changed: the perturbation door, held open for one question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from shaketable.perturbations.altered import Target, disturbed, remove, sentences_of
from shaketable.protocols import Perturbation, Retriever
from shaketable.retrievers.corpus.passages import split_sentences
from shaketable.stages.explaining.sentence_edits import Edits
from shaketable.text.half_characters import mend
from shaketable.types import Evidence, Hit, Passage, Query, Question, Sentence


@dataclass(frozen=True, kw_only=True, eq=False)
class Changed:
    """Stands where a perturbation does: that one first, then the edits of those sentences that are there."""

    version: ClassVar[int] = 1

    before: Perturbation
    edits: Edits = field(default_factory=dict)
    only: frozenset[str] | None = None
    """The sentences that stay, all others go; None: those without an edit stay."""
    seen: dict[str, Target] = field(default_factory=dict)
    """Every sentence that it was handed, by its id."""

    def perturb(self, questions: Sequence[Question], hits: Sequence[Sequence[Hit]]) -> list[Evidence]:
        return [self._changed(evidence) for evidence in mend(self.before.perturb(questions, hits))]

    def _changed(self, evidence: Evidence) -> Evidence:
        split = [replace(hit, passage=_in_sentences(hit.passage)) for hit in evidence.hits]
        targets = sentences_of(split)
        self.seen.update((target.sentence.id, target) for target in targets)
        if self.only is None:
            edits = [self.edits[target.sentence.id] for target in targets if target.sentence.id in self.edits]
        else:
            edits = [remove(target) for target in targets if target.sentence.id not in self.only]
        if not edits:
            return evidence
        changed = disturbed(split, edits)
        return Evidence(hits=changed.hits, edits=(*evidence.edits, *edits), flags=evidence.flags)


def _in_sentences(passage: Passage) -> Passage:
    """A passage that is not split is one long sentence."""
    if len(passage.sentences) != 1 or len(texts := split_sentences(passage.text)) < 2:
        return passage
    return replace(
        passage, sentences=tuple(Sentence(id=f"{passage.id}#{i}", text=text) for i, text in enumerate(texts))
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Remembered:
    """Stands where a retriever does, and asks it once for each query; sentences may all go, and the question is asked
    without any then."""

    version: ClassVar[int] = 1

    retriever: Retriever
    found: dict[tuple[str, int], list[Hit]] = field(default_factory=dict)

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        new = list({query.text: query for query in queries if (query.text, k) not in self.found}.values())
        for query, hits in zip(new, self.retriever.search(new, k) if new else (), strict=True):
            self.found[query.text, k] = hits
        return [self.found[query.text, k] for query in queries]
