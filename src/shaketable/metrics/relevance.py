"""Disturbed evidence → which passages still mean what they meant, for retrieval metrics after word-level changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from shaketable.text.encoder import encoder
from shaketable.types import Edit, Evidence, Passage, Sentence

ENCODER = "all-MiniLM-L6-v2"
"""Embedded. The published similarity uses all-mpnet-base-v2, which can be named instead."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Relevance:
    """A pseudo-label: removing or moving passages changes precision and recall by itself, changing words does not."""

    similarity: float | None
    """Cosine between the passage before and after; None: the passage was not there before."""
    is_relevant: bool


def pseudo_relevance(
    shown: Sequence[Evidence], threshold: float = 0.8, encoder_name: str = ENCODER
) -> list[list[Relevance]]:
    """For each hit of each evidence, whether it still means what it meant: similarity at or above the threshold.

    A passage that the perturbation brought was not there before and is not relevant; one that it left alone is
    relevant, and is not read.
    """
    pairs = [
        [
            (None if before is None else before.text, hit.passage.text)
            for before, hit in zip(undone(evidence), evidence.hits, strict=True)
        ]
        for evidence in shown
    ]
    changed = {pair for of_one in pairs for pair in of_one if pair[0] is not None and pair[0] != pair[1]}
    texts = sorted({text for pair in changed for text in pair if text is not None})
    vectors = dict(zip(texts, encoder(encoder_name).embed(texts), strict=True)) if texts else {}

    def label(before: str | None, after: str) -> Relevance:
        if before is None:
            return Relevance(similarity=None, is_relevant=False)
        similarity = 1.0 if before == after else float(vectors[before] @ vectors[after])
        return Relevance(similarity=similarity, is_relevant=similarity >= threshold)

    return [[label(before, after) for before, after in of_one] for of_one in pairs]


def undone(evidence: Evidence) -> list[Passage | None]:
    """The passage of each hit with its sentences as they were before the edits; None: the perturbation brought it.

    Sentences that were removed stay away: what is left of a passage means what it meant.
    """
    inserted = [edit for edit in evidence.edits if edit.kind == "insert"]
    joined = {edit.sentence_id for edit in inserted if edit.rank is None}
    brought = {edit.sentence_id for edit in inserted if edit.rank is not None}
    passages: list[Passage | None] = []
    for hit in evidence.hits:
        sentences = [sentence for sentence in hit.passage.sentences if sentence.id not in joined]
        if sentences and all(sentence.id in brought for sentence in sentences):
            passages.append(None)
            continue
        for edit in evidence.edits:
            if edit.kind == "replace" and edit.sentence_id.rpartition("#")[0] == hit.passage.id:
                _undo(edit, sentences)
        passages.append(replace(hit.passage, sentences=tuple(sentences)))
    return passages


def _undo(edit: Edit, sentences: list[Sentence]) -> None:
    """Put the sentence that was there before back into its place.

    One that took it brought its own id, and may stand in the passage a second time, where it belongs; then the place
    nearest to the index of the sentence before is the right one.
    """
    id_after = edit.id_after or edit.sentence_id
    places = [i for i, sentence in enumerate(sentences) if sentence.id == id_after]
    if places:
        index = int(edit.sentence_id.rpartition("#")[2])
        i = min(places, key=lambda i: abs(i - index))
        sentences[i] = Sentence(id=edit.sentence_id, text=edit.before or "")
