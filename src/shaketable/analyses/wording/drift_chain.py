"""Does drift explain loss: from the wording to the queries, to what they find, to the answer?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from shaketable.analyses.claims import Claim, Subject
from shaketable.analyses.rows import Located
from shaketable.analyses.tables import Tables
from shaketable.analyses.wording.answers import NO_QUERY_LOSS, NO_RECORDS, NO_SEARCHES, group_replies, read_scores
from shaketable.analyses.wording.asked import Asked, Reply
from shaketable.analyses.wording.candidates import spoken_of
from shaketable.analyses.wording.hops import MissingHops, Trails, read_trails
from shaketable.analyses.wording.numbers import count_failed
from shaketable.analyses.wording.rank_relation import TOO_FEW, correlate_ranks
from shaketable.analyses.wording.vectors import ENCODER
from shaketable.factors import Cell, is_by_people
from shaketable.statistics.intervals import Bootstrap
from shaketable.types import Estimate

Length = Literal["words", "tokens"]
Stage = Literal["loss", "length", "mss", "collapse", "rfr", "gap"]
"""Query loss and length, similarity of queries, collapse of what they find, failed searches, change in correctness."""
LINKS: tuple[tuple[Stage, Stage], ...] = (
    *(("loss", "mss"), ("length", "mss"), ("mss", "collapse"), ("mss", "rfr"), ("rfr", "gap")),
)
"""What is correlated, from the wording to the answer."""
Scores = Mapping[str, float | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Correlation(Located):
    """How two stages of the chain go together over wordings.

    Its variation is None for all rewordings together, its dataset where all datasets are taken together.
    """

    first: Stage
    second: Stage
    rho: Estimate
    """Spearman's; n counts questions."""
    p: float | None
    """That it is not 0, not adjusted; None: it is not known."""
    n_wordings: int
    n_failed: int
    """Trials that failed, and are in no number."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DriftChain:
    """Does the drift of queries explain lost answers?"""

    correct: str | None
    """The metric whose change is the gap."""
    length: Length
    encoder: str
    missing_hops: MissingHops
    correlations: tuple[Correlation, ...]
    reason: str | None = None
    """Why there are no correlations at all."""

    @property
    def chains(self) -> list[list[Correlation]]:
        """What is spoken of each system: rewrites by people where there are some, else all rewordings together."""
        systems: dict[Cell, dict[Cell, list[Correlation]]] = {}
        for link in spoken_of(self.correlations):
            if link.rho.value is not None:
                of_system = systems.setdefault(replace(link.cell, variation=None), {})
                of_system.setdefault(link.cell, []).append(link)
        return [min(chains.items(), key=lambda chain: _rank(chain[0]))[1] for chains in systems.values()]

    def claims(self) -> Iterable[Claim]:
        """That the stages of a chain go together; its links weigh as one claim."""
        for chain in self.chains:
            for link in chain:
                subject = Subject(kind="chain", cell=link.cell, metric=link.first, other=link.second)
                yield Claim(subject=subject, estimate=link.rho, p=link.p, weight=1 / len(chain))


@dataclass(frozen=True, kw_only=True, slots=True)
class Wording:
    """One point: a wording of a question, averaged over runs."""

    question_id: str
    variation: str
    values: Mapping[Stage, float | None]


def drift_chain(
    tables: Tables,
    *,
    correct: str | None = None,
    length: Length = "words",
    encoder: str = ENCODER,
    missing_hops: MissingHops = "skip",
) -> DriftChain:
    """Spearman's rho along the chain, for each variation and for all rewordings together (variation None).

    One point is one wording of a question, averaged over runs. The gap is correctness of the rewording minus that of
    the original, by the metric `correct`. Query loss needs the metric `query_loss`; length in tokens its
    `query_tokens`.
    """
    correct = correct or tables.judging_metric()
    empty = DriftChain(correct=correct, length=length, encoder=encoder, missing_hops=missing_hops, correlations=())
    if tables.records.is_empty():
        return replace(empty, reason=NO_RECORDS if tables.metrics else None)
    searching = [asked for asked in group_replies(tables.records) if asked.searches]
    if tables.searches.is_empty() or not searching:
        return replace(empty, reason=NO_SEARCHES)
    reader = _Reader(
        trails=read_trails(tables.searches, encoder, missing_hops),
        correct=read_scores(tables, correct),
        losses=read_scores(tables, "query_loss"),
        tokens=read_scores(tables, "query_tokens") if length == "tokens" else None,
    )
    correlations = [link for asked in searching for link in _correlate(asked, reader, tables.bootstrap)]
    return replace(empty, correlations=tuple(correlations))


@dataclass(frozen=True, kw_only=True)
class _Reader:
    """Reads the stages of the chain from two trials."""

    trails: Trails
    correct: Scores
    losses: Scores
    tokens: Scores | None
    """None: length is counted in words."""

    def read(self, original: Reply, reworded: Reply) -> dict[Stage, float | None]:
        keys = original.key, reworded.key
        before, after = (self.correct.get(key) for key in keys)
        words = len(reworded.wording.split())
        return {
            "loss": self.losses.get(reworded.key),
            "length": words if self.tokens is None else self.tokens.get(reworded.key),
            "mss": self.trails.mss(*keys),
            "collapse": self.trails.collapse(*keys),
            "rfr": self.trails.failure_rate(reworded.key),
            "gap": None if before is None or after is None else after - before,
        }


def _correlate(asked: Asked, reader: _Reader, bootstrap: Bootstrap) -> Iterable[Correlation]:
    wordings = _wordings(asked, reader)
    for first, second in LINKS:
        reason = reader.trails.vectors.reason if "mss" in (first, second) else None
        if first == "loss" and all(wording.values["loss"] is None for wording in wordings):
            reason = NO_QUERY_LOSS
        for variation in [*asked.reworded, *([None] if len(asked.reworded) > 1 else [])]:
            points = [
                (wording.question_id, x, y)
                for wording in wordings
                if variation in (None, wording.variation)
                and (x := wording.values[first]) is not None
                and (y := wording.values[second]) is not None
            ]
            rho, p = correlate_ranks(points, bootstrap, reason or TOO_FEW)
            yield Correlation(
                cell=replace(asked.cell, variation=variation),
                first=first,
                second=second,
                rho=rho,
                p=p,
                n_wordings=len(points),
                n_failed=count_failed(asked, variation),
            )


def _rank(cell: Cell) -> int:
    if cell.variation is None:
        return 1
    return 0 if is_by_people(cell.variation) else 2


def _wordings(asked: Asked, reader: _Reader) -> list[Wording]:
    values: dict[tuple[str, str, str], dict[Stage, list[float]]] = {}
    for original, reworded in asked.pairs():
        stages = reader.read(original, reworded)
        of_wording = values.setdefault(
            (original.question_id, reworded.variation, reworded.wording), {stage: [] for stage in stages}
        )
        for stage, value in stages.items():
            if value is not None:
                of_wording[stage].append(value)
    return [
        Wording(
            question_id=question,
            variation=variation,
            values={stage: math.fsum(own) / len(own) if own else None for stage, own in of_wording.items()},
        )
        for (question, variation, _), of_wording in values.items()
    ]
