"""Where do the searches of a reworded question go?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from shaketable.analyses.claims import Claim
from shaketable.analyses.tables import Tables
from shaketable.analyses.wording.answers import NO_RECORDS, NO_SEARCHES, group_replies
from shaketable.analyses.wording.asked import Asked, Reply
from shaketable.analyses.wording.candidates import claim_differences
from shaketable.analyses.wording.hops import MissingHops, Trails, read_trails
from shaketable.analyses.wording.measurements import (
    Measurement,
    measure,
    measure_losses,
    measure_pairs,
    measure_pairs_beside_noise,
)
from shaketable.analyses.wording.numbers import WordingNumber, estimate_numbers
from shaketable.analyses.wording.vectors import ENCODER


@dataclass(frozen=True, kw_only=True, slots=True)
class Trajectories:
    """Where do the searches of a reworded question go?"""

    encoder: str
    missing_hops: MissingHops
    numbers: tuple[WordingNumber, ...]
    """`mss`, `collapse`, `disjoint` and `rfr` of each variation; `mss` and `gold` hop by hop.

    `mss` and `collapse` beside their `noise_…` and `excess_…`.
    """
    reason: str | None = None
    """Why there are no numbers at all."""

    def claims(self) -> Iterable[Claim]:
        """How much further rewording makes queries drift than chance does."""
        excesses = (number for number in self.numbers if number.metric == "excess_mss")
        return claim_differences(excesses, "drift")


def trajectories(tables: Tables, *, encoder: str = ENCODER, missing_hops: MissingHops = "skip") -> Trajectories:
    """Drift of queries and of what they find, against the original wording, in all and hop by hop.

    `mss`: mean similarity of the queries of aligned hops. `rfr`: share of hops without a supporting document.
    `collapse`: one minus the mean overlap (Jaccard) of the passages found at aligned hops; `disjoint`: share of aligned
    hops with nothing in common. `gold`: share of searches that hold a supporting document, by hop.
    `noise_…` is the same between runs of the original wording; `excess_…`: the difference, of `mss` below 0 where
    rewording makes queries drift.
    """
    empty = Trajectories(encoder=encoder, missing_hops=missing_hops, numbers=())
    if tables.records.is_empty():
        return replace(empty, reason=NO_RECORDS if tables.metrics else None)
    searching = [asked for asked in group_replies(tables.records) if asked.searches]
    if tables.searches.is_empty() or not searching:
        return replace(empty, reason=NO_SEARCHES)
    trails = read_trails(tables.searches, encoder, missing_hops)
    numbers = [
        number for asked in searching for number in estimate_numbers(asked, _measure(asked, trails), tables.bootstrap)
    ]
    return replace(empty, numbers=tuple(numbers))


def _measure(asked: Asked, trails: Trails) -> list[Measurement]:
    n_hops = max((len(trails.of(reply.key)) for reply in asked.every_reply()), default=0)
    return [
        *measure_pairs_beside_noise(asked, "mss", lambda a, b: trails.mss(a.key, b.key), reason=trails.vectors.reason),
        *measure_pairs_beside_noise(asked, "collapse", lambda a, b: trails.collapse(a.key, b.key)),
        *measure_pairs(asked, "disjoint", lambda a, b: trails.disjoint(a.key, b.key), "share"),
        *measure_losses(asked, "rfr", lambda reply: trails.failure_rate(reply.key), "share"),
        *(measurement for hop in range(n_hops) for measurement in _at_hop(asked, trails, hop)),
    ]


def _at_hop(asked: Asked, trails: Trails, hop: int) -> list[Measurement]:
    def similarity(original: Reply, reworded: Reply) -> float | None:
        similarities = trails.similarities(original.key, reworded.key)
        return similarities[hop] if hop < len(similarities) else None

    def gold(reply: Reply) -> float | None:
        hops = trails.of(reply.key)
        is_hit = hops[hop].is_hit if hop < len(hops) else None
        return None if is_hit is None else float(is_hit)

    measurements = measure_pairs(asked, "mss", similarity) + measure(asked, "gold", gold, "share")
    return [replace(measurement, hop=hop + 1) for measurement in measurements if measurement.values]
