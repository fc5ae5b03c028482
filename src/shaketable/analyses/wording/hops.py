"""The searches of one trial, hop by hop, and how those of two wordings drift apart."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from shaketable.analyses.wording.vectors import Vectors, vectors_of
from shaketable.statistics.stability import aligned_similarity, overlap

MissingHops = Literal["skip", "zero"]
"""Hops that only one of two trials made are left out of the drift of queries, or count as similarity 0."""


@dataclass(frozen=True, kw_only=True)
class Hop:
    query: str
    passages: frozenset[str]
    """Ids of what the search brought."""
    is_hit: bool | None
    """Whether a supporting document is among it; None: not known for this question."""


@dataclass(frozen=True, kw_only=True)
class HopPair:
    """What two trials searched for at the same hop."""

    hop: int
    """From 1."""
    original: Hop | None
    """None: this trial had made its last search."""
    reworded: Hop | None
    similarity: float | None
    """Of the two queries; None where there are not two, or no encoder."""

    @property
    def sides(self) -> tuple[tuple[str, Hop | None], ...]:
        return ("original", self.original), ("reworded", self.reworded)


@dataclass(frozen=True, kw_only=True)
class Trails:
    """All searches of a run, with the vectors of their queries."""

    hops: Mapping[str, Sequence[Hop]]
    """By the key of the trial, in the order they were made."""
    vectors: Vectors
    missing: MissingHops

    def of(self, key: str) -> Sequence[Hop]:
        return self.hops.get(key, ())

    def side_by_side(self, original: str, reworded: str) -> list[HopPair]:
        """The hops of both trials, to the end of the longer one."""
        return [
            HopPair(
                hop=hop,
                original=a,
                reworded=b,
                similarity=self.vectors.similarity(a.query, b.query) if a and b else None,
            )
            for hop, (a, b) in enumerate(itertools.zip_longest(self.of(original), self.of(reworded)), 1)
        ]

    def similarities(self, original: str, reworded: str) -> list[float]:
        """Of the queries of aligned hops, those that both trials made; none where nothing could be measured."""
        pairs = zip(self.of(original), self.of(reworded), strict=False)
        similarities = (self.vectors.similarity(a.query, b.query) for a, b in pairs)
        return [similarity for similarity in similarities if similarity is not None]

    def mss(self, original: str, reworded: str) -> float | None:
        """Mean subquery similarity; None where there is no hop to compare, or no encoder."""
        if self.vectors.reason:
            return None
        longer = max(len(self.of(original)), len(self.of(reworded)))
        return aligned_similarity(self.similarities(original, reworded), longer, missing_is_zero=self.missing == "zero")

    def overlaps(self, original: str, reworded: str) -> list[float]:
        """Of the passages that aligned hops brought."""
        pairs = zip(self.of(original), self.of(reworded), strict=False)
        return [overlap(a.passages, b.passages) for a, b in pairs]

    def collapse(self, original: str, reworded: str) -> float | None:
        """One minus the mean overlap of aligned hops."""
        kept = aligned_similarity(self.overlaps(original, reworded), 0)
        return None if kept is None else 1 - kept

    def disjoint(self, original: str, reworded: str) -> float | None:
        """The share of aligned hops that brought nothing in common."""
        overlaps = self.overlaps(original, reworded)
        return overlaps.count(0.0) / len(overlaps) if overlaps else None

    def failure_rate(self, key: str) -> float | None:
        """RFR: the share of hops that brought no supporting document."""
        known = [hop.is_hit for hop in self.of(key) if hop.is_hit is not None]
        return known.count(False) / len(known) if known else None


def read_trails(searches: pl.DataFrame, encoder: str, missing: MissingHops) -> Trails:
    hops: dict[str, list[Hop]] = {}
    for row in searches.sort("key", "hop").iter_rows(named=True):
        hop = Hop(query=row["query"], passages=frozenset(row["passages"]), is_hit=row["gold_hit"])
        hops.setdefault(row["key"], []).append(hop)
    return Trails(hops=hops, vectors=vectors_of(_queries(hops.values()), encoder), missing=missing)


def _queries(trails: Iterable[Sequence[Hop]]) -> Iterable[str]:
    return (hop.query for trail in trails for hop in trail)
