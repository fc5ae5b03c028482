"""Hits and disturbed hits → which still count as relevant, for retrieval metrics after word-level changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shaketable.encoder import encoder
from shaketable.types import Hit

ENCODER = "all-MiniLM-L6-v2"
"""Embedded. The published similarity uses all-mpnet-base-v2, which can be named instead."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Relevance:
    """A pseudo-label: removing or moving passages changes precision and recall by itself, changing words does not."""

    similarity: float | None
    """Cosine between the passage before and after; None: the passage was not there before."""
    is_relevant: bool


def pseudo_relevance(
    before: Sequence[Hit], after: Sequence[Hit], threshold: float = 0.8, encoder_name: str = ENCODER
) -> list[Relevance]:
    """For each hit after a perturbation, whether it still means what it meant: similarity at or above the threshold.

    A disturbed hit belongs to the hit that holds a sentence of the same id, sentences keeping their ids when
    words change. A passage made of other sentences has no hit before it and is not relevant.
    """
    homes = {sentence.id: hit for hit in reversed(before) for sentence in hit.passage.sentences}
    pairs = [
        (next((homes[sentence.id] for sentence in hit.passage.sentences if sentence.id in homes), None), hit)
        for hit in after
    ]
    texts = [hit.passage.text for pair in pairs if pair[0] is not None for hit in pair if hit is not None]
    vectors = iter(encoder(encoder_name).embed(texts)) if texts else iter(())
    labels = []
    for origin, _ in pairs:
        similarity = float(next(vectors) @ next(vectors)) if origin is not None else None
        labels.append(Relevance(similarity=similarity, is_relevant=similarity is not None and similarity >= threshold))
    return labels
