"""At which temperature do facts break, and does entropy foretell it?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shaketable.analyses.claims import Claim, Subject
from shaketable.analyses.facts.breaking_rule import BreakingRule
from shaketable.analyses.facts.early_breaks import TooEarly, count_early_breaks
from shaketable.analyses.facts.facts import (
    Fact,
    Facts,
    each_and_pooled,
    estimate_mean,
    ids,
    numbers,
    over_all_datasets,
)
from shaketable.analyses.facts.reading import BY_SCAN, Reading
from shaketable.analyses.rows import Located
from shaketable.analyses.tables import Tables
from shaketable.statistics.concordance import HOW, kendall
from shaketable.statistics.intervals import Bootstrap, Numbers, Statistic
from shaketable.types import Estimate

NOT_VARIED = "entropy or breaking temperature does not vary"


@dataclass(frozen=True, kw_only=True, slots=True)
class EntropyCorrelation(Located):
    """Of entropy and breaking temperature. Facts that hold to the end of the scan break somewhere beyond it."""

    tau: Estimate
    """Kendall's tau-b of all facts: those that do not break are tied above all others."""
    p: float | None
    """That they are related at all; None: there was nothing to test."""
    pearson: Estimate
    """Pearson's as published, of broken facts alone: it says nothing of those that hold, and would be another one if
    the scan ended elsewhere."""
    n_unbroken: int
    """Facts that have no part in Pearson's."""
    n_missing: int
    """Known facts without entropy, or of which it is not known where they break."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BrokenShare(Located):
    """Of the known facts, those that break at a temperature. A temperature of None: anywhere."""

    share: Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class EntropyAtBreak(Located):
    """The mean entropy of the facts that break at a temperature."""

    entropy: Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class BreakingTemperatures:
    """At which temperature do facts break, and does entropy foretell it?"""

    correlations: tuple[EntropyCorrelation, ...]
    shares: tuple[BrokenShare, ...]
    entropies: tuple[EntropyAtBreak, ...]
    too_early: tuple[TooEarly, ...]
    """Of systems whose facts have curves beside their scan."""
    unbroken: float | None
    """The temperature that facts without a break count at in Pearson's correlation; None: they are left out."""
    reading: Reading

    def claims(self) -> Iterable[Claim]:
        """That entropy foretells the break, of each system over all its datasets."""
        for correlation in over_all_datasets(self.correlations):
            yield Claim(
                subject=Subject(kind="breaking", cell=correlation.cell), estimate=correlation.tau, p=correlation.p
            )


def breaking(tables: Tables, *, unbroken: float | None = None, reading: Reading = BY_SCAN) -> BreakingTemperatures:
    """Entropy against breaking temperature, over known facts: Kendall's tau of all, and Pearson's of broken ones as
    published.

    `unbroken`, such as 2.2, puts facts that do not break there instead of leaving them out of Pearson's correlation.
    """
    every, rule = reading.read(tables)
    each, bootstrap = list(each_and_pooled(every)), tables.bootstrap
    # A sequential scan takes as many answers as it needs, as repeats that end of themselves do (None): no binomial
    # chance describes that.
    repeats = None if tables.scan.strategy == "sequential" else tables.repeats
    return BreakingTemperatures(
        correlations=tuple(_correlation(facts, rule, unbroken, bootstrap) for facts in each),
        shares=tuple(share for facts in each for share in _shares(facts, rule, bootstrap)),
        entropies=tuple(entropy for facts in each for entropy in _entropies(facts, rule, unbroken, bootstrap)),
        too_early=tuple(
            early for facts in each if (early := count_early_breaks(facts, rule, repeats, bootstrap)) is not None
        ),
        unbroken=unbroken,
        reading=reading.settle(tables.scan),
    )


def pearson(first: Numbers, second: Numbers) -> Statistic:
    """Their correlation for all resamples at once; NaN where one of them does not vary."""
    a, b = first - first.mean(), second - second.mean()
    powers = np.stack([a, b, a * a, b * b, a * b])

    def r(drawn: Numbers) -> Numbers:
        mean_a, mean_b, aa, bb, ab = powers @ drawn.T / drawn.sum(axis=-1)
        spread = (aa - mean_a**2) * (bb - mean_b**2)
        usable = spread > 1e-15
        ratio: Numbers = np.where(usable, (ab - mean_a * mean_b) / np.sqrt(np.where(usable, spread, 1)), np.nan)
        return ratio[None]

    return r


def _correlation(facts: Facts, rule: BreakingRule, unbroken: float | None, bootstrap: Bootstrap) -> EntropyCorrelation:
    decided = [fact for fact in facts.known if fact.entropy is not None and rule.is_decided(fact)]
    breaking = numbers(rule.capped(fact) for fact in decided)
    tau, p = _tau(numbers(fact.entropy for fact in decided), breaking, bootstrap)
    if unbroken is not None:
        breaking = np.nan_to_num(breaking, nan=unbroken)
    used = [fact for fact, at in zip(decided, breaking, strict=True) if not np.isnan(at)]
    return EntropyCorrelation(
        cell=facts.cell,
        tau=tau,
        p=p,
        pearson=_pearson(used, breaking[~np.isnan(breaking)], bootstrap),
        n_unbroken=len(decided) - len(used),
        n_missing=len(facts.known) - len(decided),
    )


def _tau(entropies: Numbers, breaking: Numbers, bootstrap: Bootstrap) -> tuple[Estimate, float | None]:
    beyond = np.nan_to_num(breaking, nan=1 + np.nanmax(breaking, initial=0.0))
    own = kendall(entropies, beyond, bootstrap.confidence)
    estimate = bootstrap.estimate(own.tau, own.low, own.high, n=len(entropies), unit="ratio")
    reason = None if estimate.value is not None else "no fact breaks" if np.isnan(breaking).all() else NOT_VARIED
    return replace(estimate, how=HOW, reason=reason), None if np.isnan(own.p) else own.p


def _pearson(used: Sequence[Fact], breaking: Numbers, bootstrap: Bootstrap) -> Estimate:
    if len(used) < 3:
        reason = "fewer than three broken facts"
        return bootstrap.estimate(np.nan, np.nan, np.nan, n=len(used), unit="ratio", reason=reason)
    statistic = pearson(numbers(fact.entropy for fact in used), breaking)
    (estimate,) = bootstrap.statistics(statistic, ids(used), 1, unit="ratio")
    return replace(estimate, reason=NOT_VARIED if estimate.value is None else None)


def _shares(facts: Facts, rule: BreakingRule, bootstrap: Bootstrap) -> list[BrokenShare]:
    known = [fact for fact in facts.known if rule.is_decided(fact)]
    if not known:
        return []
    at = [_to_the_tenth(rule.capped(fact)) for fact in known]
    temperatures = _temperatures(known, at)
    lines = [
        [float(t is not None) for t in at],
        *([float(t == temperature) for t in at] for temperature in temperatures),
    ]
    return [
        BrokenShare(cell=replace(facts.cell, temperature=temperature), share=share)
        for temperature, share in zip(
            [None, *temperatures], bootstrap.means(np.array(lines), ids(known), unit="share"), strict=True
        )
    ]


def _entropies(facts: Facts, rule: BreakingRule, unbroken: float | None, bootstrap: Bootstrap) -> list[EntropyAtBreak]:
    known = [fact for fact in facts.known if rule.is_decided(fact)]
    at = [_to_the_tenth(rule.capped(fact)) for fact in known]
    groups = {t: [fact for fact, own in zip(known, at, strict=True) if own == t] for t in _temperatures(known, at)}
    if unbroken is not None and known:
        groups[unbroken] = [fact for fact, own in zip(known, at, strict=True) if own is None]
    with_entropy = {t: [fact for fact in group if fact.entropy is not None] for t, group in groups.items()}
    return [
        EntropyAtBreak(
            cell=replace(facts.cell, temperature=t),
            entropy=estimate_mean((fact.entropy for fact in group), group, bootstrap),
        )
        for t, group in with_entropy.items()
        if group
    ]


def _temperatures(known: Sequence[Fact], at: Sequence[float | None]) -> list[float]:
    return sorted({t for fact in known for t in fact.accuracies} | {t for t in at if t is not None})


def _to_the_tenth(temperature: float | None) -> float | None:
    """Breaking temperatures of curves are continuous, and groups need neighbours."""
    return None if temperature is None else round(temperature, 1)
