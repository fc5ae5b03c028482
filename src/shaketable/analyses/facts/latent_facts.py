"""Which facts does a model get wrong when greedy, and right when it is hotter?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from shaketable.analyses.facts.fact_table import read_facts
from shaketable.analyses.facts.facts import Fact, Facts, each_and_pooled, estimate_mean
from shaketable.analyses.facts.reading import settle_scan
from shaketable.analyses.rows import Located
from shaketable.analyses.tables import Tables
from shaketable.statistics.intervals import Bootstrap
from shaketable.types import Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class Peak:
    """The highest probability of a correct answer above temperature 0, and the coolest temperature that has it."""

    value: float
    temperature: float


@dataclass(frozen=True, kw_only=True, slots=True)
class LatentShare(Located):
    """Of the facts that are wrong at temperature 0 and were tried above it, those that are latent."""

    share: Estimate
    n_curves: int
    """Facts whose peak is that of a curve."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LatentFact(Located):
    """Its group is the type of the question."""

    question_id: str
    key: str | None
    """Of the record at temperature 0."""
    peak: float
    """The share of correct answers at the temperature that has most of them."""
    peak_temperature: float
    source: Literal["sampled", "curve"]


@dataclass(frozen=True, kw_only=True, slots=True)
class LatentFacts:
    """Which facts does a model get wrong when greedy, and right when it is hotter?"""

    shares: tuple[LatentShare, ...]
    facts: tuple[LatentFact, ...]
    """Of each system and dataset those with the highest peaks, the highest first."""
    least: float
    """The share of correct answers from which on a fact is latent."""
    known: str
    correct: str


def latent_facts(
    tables: Tables, *, known: str | None = None, correct: str | None = None, least: float = 0.2, n: int = 10
) -> LatentFacts:
    """Facts wrong at temperature 0 that some higher temperature gets right in at least a share `least` of the answers.

    `n` of each system and dataset are listed. Peaks are those of the curve where there is one (its estimate), else the
    highest share of correct samples.
    """
    # An answer that holds the right one is not latent: unless told otherwise, what is correct is known.
    scan = settle_scan(tables.scan, known=known or "", correct=correct)
    every = read_facts(tables, scan)
    shares = [_share(facts, least, tables.bootstrap) for facts in each_and_pooled(every)]
    return LatentFacts(
        shares=tuple(share for share in shares if share is not None),
        facts=tuple(fact for facts in every for fact in _latent(facts, least, n)),
        least=least,
        known=scan.known or scan.correct,
        correct=scan.correct,
    )


def peak_of(fact: Fact) -> Peak | None:
    """None: it was not tried above temperature 0."""
    if fact.curve is not None:
        values = zip(fact.curve.value, fact.curve.temperatures, strict=True)
        tried = [(value, -t) for value, t in values if value is not None]
    else:
        tried = [(value, -t) for t, value in fact.accuracies.items()]
    if not tried:
        return None
    value, temperature = max(tried)
    return Peak(value=value, temperature=-temperature)


def _wrong(facts: Facts) -> list[tuple[Fact, Peak]]:
    return [(fact, peak) for fact in facts.asked if fact.is_known is False and (peak := peak_of(fact)) is not None]


def _share(facts: Facts, least: float, bootstrap: Bootstrap) -> LatentShare | None:
    wrong = _wrong(facts)
    if not wrong:
        return None
    is_latent = (float(peak.value >= least) for _, peak in wrong)
    return LatentShare(
        cell=facts.cell,
        share=estimate_mean(is_latent, [fact for fact, _ in wrong], bootstrap, unit="share"),
        n_curves=sum(fact.curve is not None for fact, _ in wrong),
    )


def _latent(facts: Facts, least: float, n: int) -> list[LatentFact]:
    latent = [(fact, peak) for fact, peak in _wrong(facts) if peak.value >= least]
    latent.sort(key=lambda pair: (-pair[1].value, pair[0].question_id))
    return [
        LatentFact(
            cell=replace(facts.cell, group=fact.type),
            question_id=fact.question_id,
            key=fact.key,
            peak=peak.value,
            peak_temperature=peak.temperature,
            source="sampled" if fact.curve is None else "curve",
        )
        for fact, peak in latent[:n]
    ]
