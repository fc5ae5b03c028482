"""Does evidence make a model hold facts more firmly, and does it lose that when the evidence is disturbed?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from shaketable.analyses.claims import Claim, Subject
from shaketable.analyses.facts.breaking_rule import BreakingRule
from shaketable.analyses.facts.facts import Fact, Facts, numbers
from shaketable.analyses.facts.reading import BY_SCAN, Reading
from shaketable.analyses.rows import Located
from shaketable.analyses.tables import Tables
from shaketable.factors import UNCHANGED, Cell
from shaketable.facts.score import D, frs
from shaketable.statistics.intervals import ROUNDING, Bootstrap, Numbers
from shaketable.statistics.sign_flips import sign_flip
from shaketable.types import Estimate

WRONG = 0.0
"""The breaking temperature of a fact that is wrong at temperature 0: it never held."""
NOTHING_SCORED, NOTHING_PAIRED = "no fact has a score here", "no fact has a score on both sides"


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceScore(Located):
    """A mean over the facts that a model knows with any evidence or none.

    Its cell is the evidence that it belongs to; retriever and perturbation are None closed book.
    """

    d: float
    score: Estimate
    n_missing: int
    """Facts without a number here."""

    p: float | None = None
    """That a gain or loss is not 0, by the signs of facts flipped; None: it is neither, or no fact has both."""

    @property
    def subject(self) -> Subject:
        return Subject(kind="robustness_with_evidence", cell=self.cell)


@dataclass(frozen=True, kw_only=True, slots=True)
class RobustnessWithEvidence:
    """Does evidence make a model hold facts more firmly, and does it lose that when the evidence is disturbed?"""

    d: tuple[float, ...]
    reading: Reading
    scores: tuple[EvidenceScore, ...]
    """Of each fact the mean over wordings."""
    spreads: tuple[EvidenceScore, ...]
    """The range of a fact's score over wordings, where there are several."""
    gains: tuple[EvidenceScore, ...]
    """Original evidence less closed book, the same method without passages."""
    losses: tuple[EvidenceScore, ...]
    """Original less disturbed evidence."""

    def claims(self) -> Iterable[Claim]:
        """What evidence brings and what disturbances cost, for the first d."""
        for change in (*self.gains, *self.losses):
            if change.d == self.d[0]:
                yield Claim(subject=change.subject, estimate=change.score, p=change.p)


@dataclass(frozen=True, kw_only=True, slots=True)
class Wordings(Located):
    """One kind of evidence of one model on one dataset, in all its wordings."""

    method: str
    """Its name, whatever its settings: with passages a method has others than without."""
    facts: Mapping[str, Mapping[str, Fact]]
    """Variation → question id → fact."""

    def scores(self, union: Sequence[str], rule: BreakingRule, d: float) -> dict[str, Numbers]:
        """Variation → one score for each fact of the union; NaN where there is none."""
        return {name: numbers(_score(facts.get(id), rule, d) for id in union) for name, facts in self.facts.items()}


Kind = Literal["scores", "spreads", "gains", "losses"]


def robustness_with_evidence(
    tables: Tables, *, d: tuple[float, ...] = D, reading: Reading = BY_SCAN
) -> RobustnessWithEvidence:
    """Robustness scores (FRS) closed book, with original and with disturbed evidence, over the facts that a model knows
    in any of these and in any wording; where a fact is wrong at temperature 0 its breaking temperature is 0.

    All are paired by question and wording. Facts that are known in a cell but were not scanned there have no score in
    it and are counted.
    """
    every, rule = reading.read(tables)
    models: dict[tuple[str | None, str], list[Facts]] = {}
    for facts in every:
        models.setdefault((facts.cell.dataset, facts.cell.system.model if facts.cell.system else ""), []).append(facts)
    rows = [
        row
        for of_model in models.values()
        for row in _of_model(_by_evidence(of_model, tables), rule, d, tables.bootstrap)
    ]

    def of(kind: Kind) -> tuple[EvidenceScore, ...]:
        return tuple(score for own, score in rows if own == kind)

    return RobustnessWithEvidence(
        d=d,
        reading=reading.settle(tables.scan),
        scores=of("scores"),
        spreads=of("spreads"),
        gains=of("gains"),
        losses=of("losses"),
    )


def _by_evidence(of_model: Sequence[Facts], tables: Tables) -> list[Wordings]:
    evidence: dict[Cell, dict[str, dict[str, Fact]]] = {}
    for facts in of_model:
        wordings = evidence.setdefault(replace(facts.cell, variation=None), {})
        wordings[str(facts.cell.variation)] = {fact.question_id: fact for fact in facts.asked}
    return [Wordings(cell=cell, method=_method(cell, tables), facts=facts) for cell, facts in evidence.items()]


def _score(fact: Fact | None, rule: BreakingRule, d: float) -> float | None:
    if fact is None or fact.entropy is None or fact.is_known is None:
        return None
    if not fact.is_known:
        return frs(fact.entropy, WRONG, d)
    return rule.score(fact, d) if fact.is_scanned else None


def _of_model(
    evidence: Sequence[Wordings], rule: BreakingRule, every_d: Sequence[float], bootstrap: Bootstrap
) -> list[tuple[Kind, EvidenceScore]]:
    everyone = [fact for wordings in evidence for facts in wordings.facts.values() for fact in facts.values()]
    union = sorted({fact.question_id for fact in everyone if fact.is_known})
    if not union or not any(wordings.cell.perturbation for wordings in evidence):
        return []
    rows: list[tuple[Kind, EvidenceScore]] = []
    for d in every_d:
        scores = [wordings.scores(union, rule, d) for wordings in evidence]
        for wordings, own in zip(evidence, scores, strict=True):
            rows.append(("scores", _estimate(wordings.cell, d, _each(own, _mean), union, bootstrap)))
            if len(own) > 1:
                rows.append(("spreads", _estimate(wordings.cell, d, _each(own, _range), union, bootstrap)))
        for kind, first, second in _pairs(evidence):
            gaps = {name: own - scores[second][name] for name, own in scores[first].items() if name in scores[second]}
            # A gain belongs to the evidence that brings it, a loss to what disturbs it.
            owner = evidence[first if kind == "gains" else second].cell
            mean_gaps = np.round(_each(gaps, _mean), ROUNDING)
            rows.append((kind, _change(owner, d, mean_gaps, union, bootstrap)))
    return rows


def _pairs(evidence: Sequence[Wordings]) -> Iterable[tuple[Kind, int, int]]:
    """What is compared: original evidence with the same method closed book, and with each disturbance of it."""
    for first, original in enumerate(evidence):
        if original.cell.perturbation != UNCHANGED:
            continue
        for second, other in enumerate(evidence):
            if other.cell.perturbation is None and other.method == original.method:
                yield "gains", first, second
            elif other.cell.system == original.cell.system and first != second:
                yield "losses", first, second


def _method(cell: Cell, tables: Tables) -> str:
    return tables.method_of(cell.system).partition("(")[0] if cell.system else ""


def _each(wordings: Mapping[str, Numbers], summarize: Callable[[Numbers], float]) -> Numbers:
    """One number for each fact from its wordings that have one; NaN where none has."""
    stacked = np.stack(list(wordings.values())) if wordings else np.full((1, 0), np.nan)
    kept = [column[~np.isnan(column)] for column in stacked.T]
    return np.array([summarize(column) if column.size else np.nan for column in kept])


def _mean(values: Numbers) -> float:
    return float(values.mean())


def _range(values: Numbers) -> float:
    return float(values.max() - values.min())


def _estimate(cell: Cell, d: float, values: Numbers, union: Sequence[str], bootstrap: Bootstrap) -> EvidenceScore:
    (score,) = bootstrap.means(values[None], union)
    reason = None if score.n else NOTHING_SCORED
    return EvidenceScore(cell=cell, d=d, score=replace(score, reason=reason), n_missing=len(union) - score.n)


def _change(cell: Cell, d: float, gaps: Numbers, union: Sequence[str], bootstrap: Bootstrap) -> EvidenceScore:
    here = gaps[None] if gaps.size else np.full((1, len(union)), np.nan)
    (change,), (p,) = bootstrap.means(here, union, is_difference=True), sign_flip(here, union)
    return EvidenceScore(
        cell=cell,
        d=d,
        score=replace(change, reason=None if change.n else NOTHING_PAIRED),
        n_missing=len(union) - change.n,
        p=p if change.n else None,
    )
