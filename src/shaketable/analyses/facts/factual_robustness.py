"""How firmly does each model hold the facts it knows?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shaketable.analyses.claims import Claim
from shaketable.analyses.facts.breaking_rule import BreakingRule
from shaketable.analyses.facts.fact_table import judges
from shaketable.analyses.facts.facts import (
    Fact,
    Facts,
    each_and_pooled,
    estimate_mean,
    ids,
    numbers,
    pool_datasets,
    share,
)
from shaketable.analyses.facts.reading import BY_SCAN, Reading, settle_scan
from shaketable.analyses.facts.shared_facts import (
    RankCorrelation,
    ScoreDifference,
    SharedScore,
    compare_systems,
    correlate_ranks,
    score_shared_facts,
)
from shaketable.analyses.rows import Located, Measured
from shaketable.analyses.tables import Tables
from shaketable.factors import is_applied
from shaketable.facts.score import D
from shaketable.statistics.intervals import Bootstrap
from shaketable.types import Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownShare(Measured):
    """Of the questions asked, those that are right at temperature 0.

    A dataset of None pools all, here and below; the metric judges them.
    """

    share: Estimate
    n_missing: int
    """Questions without a score."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UnbrokenShare(Located):
    """Of the known facts, those that never break."""

    share: Estimate
    n_missing: int
    """Facts of which it is not known whether they break."""
    n_undecided: int
    """Facts of which it is not known where they break."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MeanScore(Located):
    """The mean Factual Robustness Score (FRS) of the known facts that were scanned."""

    d: float
    """How hard entropy is punished."""
    is_capped: bool
    """Whether facts that hold up to temperature 2 score 1, as in the study; otherwise curves tell where they break."""
    score: Estimate
    n_missing: int
    n_undecided: int | None
    """Facts of which it is not known where they break; None: not capped."""
    n_censored: int | None
    """Facts whose curve ends before they break; None: capped."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FactScore(Located):
    """One known fact, for d = 1. Its group is the type of the question."""

    question_id: str
    key: str | None
    """Of the record at temperature 0."""
    entropy: float | None
    breaking: float | None
    """None: unbroken up to the end of the scan, or not known."""
    breaking_uncapped: float | None
    score: float | None
    uncapped: float | None
    uncapped_low: float | None
    uncapped_high: float | None
    reason: str | None
    """Why it has no score."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FactualRobustness:
    """How firmly does each model hold the facts it knows?"""

    d: tuple[float, ...]
    reading: Reading
    known: tuple[KnownShare, ...]
    unbroken: tuple[UnbrokenShare, ...]
    scores: tuple[MeanScore, ...]
    shared: tuple[SharedScore, ...]
    differences: tuple[ScoreDifference, ...]
    rank_correlations: tuple[RankCorrelation, ...]
    facts: tuple[FactScore, ...]

    def claims(self) -> Iterable[Claim]:
        """That one system holds shared facts more firmly than another; a system more weighs as one claim more."""
        n_systems = len({score.cell for score in self.shared})
        for gap in self.differences:
            yield Claim(subject=gap.subject, estimate=gap.difference, p=gap.p, weight=2 / n_systems)


def factual_robustness(tables: Tables, *, d: tuple[float, ...] = D, reading: Reading = BY_SCAN) -> FactualRobustness:
    """The Factual Robustness Score (FRS) of each system, dataset and d, with bootstrap intervals over questions.

    Systems are compared on the facts that all of them know.
    """
    every, rule = reading.read(tables)
    known_by, _ = judges(settle_scan(tables.scan, known=reading.known, correct=reading.correct))
    each, systems, bootstrap = list(each_and_pooled(every)), pool_datasets(every), tables.bootstrap
    return FactualRobustness(
        d=d,
        reading=reading.settle(tables.scan),
        known=tuple(_known_share(facts, known_by, bootstrap) for facts in each),
        unbroken=tuple(_unbroken_share(facts, rule, bootstrap) for facts in each if facts.known),
        scores=tuple(score for facts in each if facts.known for score in _scores(facts, rule, d, bootstrap)),
        shared=score_shared_facts(systems, rule, d, bootstrap),
        differences=tuple(
            gap
            for gap in compare_systems(systems, rule, d[0], bootstrap)
            if is_applied(gap.cell, tables.not_applied) and is_applied(gap.other, tables.not_applied)
        ),
        rank_correlations=correlate_ranks(systems, rule, d, bootstrap),
        facts=tuple(_fact_score(facts, fact, rule) for facts in every for fact in facts.known),
    )


def _known_share(facts: Facts, known_by: str, bootstrap: Bootstrap) -> KnownShare:
    return KnownShare(
        cell=facts.cell,
        metric=known_by,
        share=estimate_mean((share(fact.is_known) for fact in facts.asked), facts.asked, bootstrap, unit="share"),
        n_missing=sum(fact.is_known is None for fact in facts.asked),
    )


def _unbroken_share(facts: Facts, rule: BreakingRule, bootstrap: Bootstrap) -> UnbrokenShare:
    known = facts.known
    unbroken = estimate_mean((share(rule.is_unbroken(fact)) for fact in known), known, bootstrap, unit="share")
    reasons = [reason for fact in known if (reason := rule.undecided(fact)) is not None]
    return UnbrokenShare(
        cell=facts.cell,
        share=unbroken if unbroken.n else replace(unbroken, reason=max(reasons, key=reasons.count)),
        n_missing=len(known) - unbroken.n,
        n_undecided=len(reasons),
    )


def _scores(facts: Facts, rule: BreakingRule, every_d: Sequence[float], bootstrap: Bootstrap) -> list[MeanScore]:
    known = facts.known
    n_undecided = sum(not rule.is_decided(fact) for fact in known)
    n_censored = sum(rule.is_censored(fact) for fact in known)
    kinds = [(d, is_capped) for d in every_d for is_capped in (True, False)]
    values = np.stack([numbers(rule.score(fact, d, is_capped=is_capped) for fact in known) for d, is_capped in kinds])
    return [
        MeanScore(
            cell=facts.cell,
            d=d,
            is_capped=is_capped,
            score=score if is_capped else _with_errors_of_curves(score, known, rule, d, bootstrap),
            n_missing=len(known) - score.n,
            n_undecided=n_undecided if is_capped else None,
            n_censored=None if is_capped else n_censored,
        )
        for (d, is_capped), score in zip(kinds, bootstrap.means(values, ids(known)), strict=True)
        if is_capped or score.n
    ]


def _with_errors_of_curves(
    score: Estimate, facts: Sequence[Fact], rule: BreakingRule, d: float, bootstrap: Bootstrap
) -> Estimate:
    """Facts were drawn, and each has an error of its own: the interval holds both."""
    spans = [rule.score_span(fact, d) or (None, None) for fact in facts]
    ends = np.stack([numbers(low for low, _ in spans), numbers(high for _, high in spans)])
    lowest, highest = bootstrap.means(ends, ids(facts))
    return replace(score, low=lowest.low, high=highest.high)


def _fact_score(facts: Facts, fact: Fact, rule: BreakingRule) -> FactScore:
    low, high = rule.score_span(fact, 1) or (None, None)
    return FactScore(
        cell=replace(facts.cell, group=fact.type),
        question_id=fact.question_id,
        key=fact.key,
        entropy=fact.entropy,
        breaking=rule.capped(fact),
        breaking_uncapped=rule.uncapped(fact),
        score=rule.score(fact, 1),
        uncapped=rule.score(fact, 1, is_capped=False),
        uncapped_low=low,
        uncapped_high=high,
        reason=rule.undecided(fact) or ("it has no entropy" if fact.entropy is None else None),
    )
