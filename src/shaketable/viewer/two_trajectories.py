"""The searches of a reworded question beside those of its original wording, hop by hop."""

from __future__ import annotations

from dataclasses import dataclass

from shaketable import weights
from shaketable.analyses.wording.hops import Hop, HopPair, Trails
from shaketable.analyses.wording.vectors import ENCODER, Vectors, vectors_of
from shaketable.store.tables import GOLD_HIT
from shaketable.text.gold import gold_among
from shaketable.types import Evidence, Note, Question, Record, Search


@dataclass(frozen=True, kw_only=True, slots=True)
class TwoTrajectories:
    original: Record
    """The trial of the original wording."""
    pairs: tuple[HopPair, ...]
    mss: float | None
    """Mean similarity of the queries that both made; None: nothing could be measured."""
    reason: str | None
    """Why similarities are missing."""


def two_trajectories(record: Record, original: Record | None, question: Question) -> TwoTrajectories | None:
    """None: this is the original wording, it was not asked in this run, or neither trial searched."""
    if original is None:
        return None
    hops = {trial.trial.key: _hops(trial, question) for trial in (original, record)}
    if not any(hops.values()):
        return None
    trails = Trails(hops=hops, vectors=_vectors(hops), missing="skip")
    return TwoTrajectories(
        original=original,
        pairs=tuple(trails.side_by_side(original.trial.key, record.trial.key)),
        mss=trails.mss(original.trial.key, record.trial.key),
        reason=trails.vectors.reason,
    )


def _hops(record: Record, question: Question) -> list[Hop]:
    hops: list[Hop] = []
    for event in record.trace:
        if isinstance(event.step, Search) and isinstance(event.reply, Evidence):
            passages = [hit.passage for hit in event.reply.hits]
            gold = gold_among(question, [passage.title for passage in passages])
            is_hit = None if gold is None else bool(gold)
            hops.append(Hop(query=event.step.query, passages=frozenset(one.id for one in passages), is_hit=is_hit))
        elif isinstance(event.step, Note) and event.step.name == GOLD_HIT and hops and hops[-1].is_hit is None:
            # Answers made elsewhere may tell it without naming the supporting documents.
            hops[-1] = Hop(query=hops[-1].query, passages=hops[-1].passages, is_hit=bool(event.step.values["value"]))
    return hops


def _vectors(hops: dict[str, list[Hop]]) -> Vectors:
    """Of all queries. Looking at a page fetches no weights."""
    if weights.present(ENCODER) is None:
        return Vectors(of={}, reason=f"not measured: the weights of {ENCODER} are not here")
    return vectors_of((hop.query for own in hops.values() for hop in own), ENCODER)
