"""Systems compared on the facts that all of them know, and by the ranks of their accuracy and robustness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from shaketable.analyses.claims import Subject
from shaketable.analyses.facts.breaking_rule import BreakingRule
from shaketable.analyses.facts.facts import Fact, Facts, ids, numbers, share
from shaketable.analyses.rows import Located
from shaketable.factors import Cell
from shaketable.statistics.intervals import ROUNDING, Bootstrap, Numbers, Statistic
from shaketable.statistics.sign_flips import sign_flip
from shaketable.types import Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedScore(Located):
    """The mean score of one system over the facts that all systems know."""

    d: float
    score: Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreDifference(Located):
    """Between two systems on these facts, paired by question."""

    other: Cell
    d: float
    difference: Estimate
    """The score of the cell's system minus that of the other."""
    p: float | None
    """That it is not 0, by signs flipped; None: no fact has both."""

    @property
    def subject(self) -> Subject:
        return Subject(kind="firmer", cell=self.cell, other=str(self.other))


@dataclass(frozen=True, kw_only=True, slots=True)
class RankCorrelation:
    """Spearman's, of accuracy and mean score over three systems or more; questions are resampled, not systems."""

    d: float
    correlation: Estimate
    """Its n counts systems."""


def score_shared_facts(
    systems: Sequence[Facts], rule: BreakingRule, every_d: Sequence[float], bootstrap: Bootstrap
) -> tuple[SharedScore, ...]:
    shared = _shared_ids(systems)
    if not shared:
        return ()
    scores = []
    for facts in systems:
        by_id = _by_id(facts.known)
        values = np.stack([_scores(by_id, shared, rule, d) for d in every_d])
        scores += [
            SharedScore(cell=facts.cell, d=d, score=score)
            for d, score in zip(every_d, bootstrap.means(values, shared), strict=True)
        ]
    return tuple(scores)


def compare_systems(
    systems: Sequence[Facts], rule: BreakingRule, d: float, bootstrap: Bootstrap
) -> tuple[ScoreDifference, ...]:
    shared = _shared_ids(systems)
    if not shared:
        return ()
    scores = [_scores(_by_id(facts.known), shared, rule, d) for facts in systems]
    pairs = list(combinations(range(len(systems)), 2))
    gaps = np.stack([np.round(scores[a] - scores[b], ROUNDING) for a, b in pairs])
    return tuple(
        ScoreDifference(
            cell=systems[a].cell, other=systems[b].cell, d=d, difference=difference, p=p if difference.n else None
        )
        for (a, b), difference, p in zip(
            pairs, bootstrap.means(gaps, shared, is_difference=True), sign_flip(gaps, shared), strict=True
        )
    )


def correlate_ranks(
    systems: Sequence[Facts], rule: BreakingRule, every_d: Sequence[float], bootstrap: Bootstrap
) -> tuple[RankCorrelation, ...]:
    if len(systems) < 3:
        return ()
    asked = sorted({id for facts in systems for id in ids(facts.asked)})
    every = [_by_id(facts.asked) for facts in systems]
    right = np.stack([numbers(share(facts[id].is_known) if id in facts else None for id in asked) for facts in every])
    known = [_by_id(facts.known) for facts in systems]
    correlations = []
    for d in every_d:
        scores = np.stack([_scores(facts, asked, rule, d) for facts in known])
        (estimate,) = bootstrap.statistics(_spearman(right, scores), asked, 1, unit="ratio")
        reason = "all systems have the same accuracy or score" if estimate.value is None else None
        correlations.append(RankCorrelation(d=d, correlation=replace(estimate, n=len(systems), reason=reason)))
    return tuple(correlations)


def _shared_ids(systems: Sequence[Facts]) -> list[str]:
    """None of a single system, which there is nothing to compare with."""
    if len(systems) < 2:
        return []
    return sorted(set.intersection(*(set(ids(facts.known)) for facts in systems)))


def _by_id(facts: Sequence[Fact]) -> dict[str, Fact]:
    return dict(zip(ids(facts), facts, strict=True))


def _scores(facts: Mapping[str, Fact], asked: Sequence[str], rule: BreakingRule, d: float) -> Numbers:
    """NaN where a question is no fact, or has no score."""
    return numbers(rule.score(facts[id], d) if id in facts else None for id in asked)


def _spearman(first: Numbers, second: Numbers) -> Statistic:
    """Of means over questions (NaN left out), between systems, for all resamples at once."""
    from scipy import stats

    def rho(drawn: Numbers) -> Numbers:
        a, b = (
            stats.rankdata(np.round(_means(values, drawn), ROUNDING), axis=0, nan_policy="propagate")
            for values in (first, second)
        )
        a, b = a - a.mean(axis=0), b - b.mean(axis=0)
        spread = np.sqrt((a * a).sum(axis=0) * (b * b).sum(axis=0))
        ratio: Numbers = np.divide((a * b).sum(axis=0), spread, out=np.full_like(spread, np.nan), where=spread > 0)
        return ratio[None]

    return rho


def _means(values: Numbers, drawn: Numbers) -> Numbers:
    """Of each row over the questions that it has; NaN where none of them was drawn."""
    total, n = np.nan_to_num(values) @ drawn.T, (~np.isnan(values)) @ drawn.T
    return np.divide(total, n, out=np.full_like(total, np.nan), where=n > 0)
