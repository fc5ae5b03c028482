"""Where did the searches of a reworded question go astray, hop by hop?"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import polars as pl

from shaketable.analyses.rows import Located
from shaketable.analyses.tables import Tables
from shaketable.analyses.wording.answers import NO_RECORDS, group_replies, read_scores
from shaketable.analyses.wording.asked import Asked, Reply
from shaketable.analyses.wording.hops import HopPair, Trails, read_trails
from shaketable.analyses.wording.vectors import ENCODER
from shaketable.factors import Cell

NO_PAIR = "no two wordings of a question were both searched for"
Pair = tuple[Reply, Reply]
"""The trial of the original wording, and that of another in the same run."""
Scores = Mapping[str, float | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class TrajectorySide:
    """One of the two trials of a case."""

    key: str
    wording: str
    answer: str
    correct: float | None
    """1 is right, 0 is wrong; None: not known."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TrajectoryHop:
    """What both trials searched for at the same hop."""

    hop: int
    """From 1."""
    original_query: str | None
    """None: this trial had made its last search."""
    reworded_query: str | None
    original_is_hit: bool | None
    """Whether a supporting document was found; None: not known, or there was no search."""
    reworded_is_hit: bool | None
    similarity: float | None
    """Of the two queries; None: there are not two, or they were not compared."""

    @classmethod
    def of(cls, pair: HopPair) -> TrajectoryHop:
        original, reworded = pair.original, pair.reworded
        return cls(
            hop=pair.hop,
            original_query=original.query if original else None,
            reworded_query=reworded.query if reworded else None,
            original_is_hit=original.is_hit if original else None,
            reworded_is_hit=reworded.is_hit if reworded else None,
            similarity=pair.similarity,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class TrajectoryCase(Located):
    """The searches of an original and of a reworded question in one run."""

    question_id: str
    repeat: int
    original: TrajectorySide
    reworded: TrajectorySide
    mss: float | None
    """Mean similarity of the queries of both; None: not measured."""
    hops: tuple[TrajectoryHop, ...]
    """To the end of the longer trial."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TrajectoryCases:
    """Where did the searches of a reworded question go astray?"""

    encoder: str
    cases: tuple[TrajectoryCase, ...]
    reason: str | None = None
    """Why there are no cases at all."""
    not_compared: str | None = None
    """Why queries of the same hop have no similarity."""


def trajectory_cases(
    tables: Tables, *, correct: str | None = None, encoder: str = ENCODER, n: int = 1
) -> TrajectoryCases:
    """The searches of an original and of a reworded question side by side, hop by hop.

    Of each system and dataset `n` cases are picked, each of another question: answers first that were right with the
    original wording and wrong with another (by the metric `correct`), among these the one that lost most hits on
    supporting documents, then the one with the least similar queries, then the first by id.
    """
    empty = TrajectoryCases(encoder=encoder, cases=())
    if tables.records.is_empty():
        return replace(empty, reason=NO_RECORDS if tables.metrics else None)
    if tables.searches.is_empty():
        return replace(empty, reason=NO_PAIR)
    scores = read_scores(tables, correct or tables.judging_metric())
    searched = frozenset(tables.searches["key"])
    every = [asked for asked in group_replies(tables.records) if asked.searches and asked.cell.dataset is not None]
    pools = [(asked, _pool(asked, searched, scores, n)) for asked in every]
    keys = {reply.key for _, pool in pools for pair in pool for reply in pair}
    trails = read_trails(tables.searches.filter(pl.col("key").is_in(keys)), encoder, "skip")
    cases = [
        _case(asked.cell, trails, scores, *pair) for asked, pool in pools for pair in _picked(pool, trails, scores, n)
    ]
    return replace(empty, cases=tuple(cases), reason=None if cases else NO_PAIR, not_compared=trails.vectors.reason)


def _pool(asked: Asked, searched: Collection[str], scores: Scores, n: int) -> list[Pair]:
    """The pairs to pick from: those that lost the answer where there are enough, so that few queries are compared."""
    both = [pair for pair in asked.pairs() if all(reply.key in searched for reply in pair)]
    lost = [pair for pair in both if _is_lost(pair, scores)]
    return lost if len({original.question_id for original, _ in lost}) >= n else both


def _picked(pool: list[Pair], trails: Trails, scores: Scores, n: int) -> Iterator[Pair]:
    """The first n by the rule, each of another question."""

    def rank(pair: Pair) -> tuple[object, ...]:
        original, reworded = pair
        mss = trails.mss(original.key, reworded.key)
        before, after = (sum(bool(hop.is_hit) for hop in trails.of(reply.key)) for reply in pair)
        ids = (reworded.question_id, reworded.variation, reworded.wording, reworded.repeat, reworded.key)
        return not _is_lost(pair, scores), after - before, 1.0 if mss is None else mss, *ids

    seen: set[str] = set()
    for original, reworded in sorted(pool, key=rank):
        if original.question_id not in seen and len(seen) < n:
            seen.add(original.question_id)
            yield original, reworded


def _is_lost(pair: Pair, scores: Scores) -> bool:
    original, reworded = pair
    return scores.get(original.key) == 1 and scores.get(reworded.key) == 0


def _case(cell: Cell, trails: Trails, scores: Scores, original: Reply, reworded: Reply) -> TrajectoryCase:
    before, after = (
        TrajectorySide(key=reply.key, wording=reply.wording, answer=reply.answer, correct=scores.get(reply.key))
        for reply in (original, reworded)
    )
    return TrajectoryCase(
        cell=replace(cell, variation=reworded.variation),
        question_id=original.question_id,
        repeat=original.repeat,
        original=before,
        reworded=after,
        mss=trails.mss(original.key, reworded.key),
        hops=tuple(map(TrajectoryHop.of, trails.side_by_side(original.key, reworded.key))),
    )
