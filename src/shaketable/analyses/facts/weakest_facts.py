"""Which of the facts that a model knows does it lose first, and at which token?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from shaketable.analyses.facts.breaking_rule import BreakingRule
from shaketable.analyses.facts.facts import Fact, Facts, pool_datasets
from shaketable.analyses.facts.reading import BY_SCAN, Reading
from shaketable.analyses.rows import Located
from shaketable.analyses.tables import Tables
from shaketable.types import Estimate, Json

N_POINTS = 41
"""Temperatures of a curve that are kept, at most."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WeakFact(Located):
    """One of the known facts with the lowest scores. Its group is the type of the question."""

    rank: int
    """1 is the weakest."""
    question_id: str
    key: str | None
    """Of the record at temperature 0."""
    score: float
    """Uncapped where the fact has a curve."""
    entropy: float | None
    breaking: float | None
    breaking_low: float | None
    breaking_high: float | None
    """Certified bounds of a curve."""
    position: int | None
    """The token of the answer (0 is the first) at which most probability is lost; None: not known."""
    loss: float | None
    """That probability."""
    wrong: str | None
    """The likeliest wrong answer."""
    wrong_probability: float | None
    n_known: int
    """Facts that were ranked."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CurvePoint(Located):
    """The curve of a weak fact at one temperature."""

    rank: int
    question_id: str
    key: str | None
    probability: Estimate
    """Of a correct answer."""
    certain_low: float
    certain_high: float
    """Certified bounds."""
    breaking: float | None
    """Of the whole curve."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WeakestFacts:
    """Which of the facts that a model knows does it lose first, and at which token?"""

    facts: tuple[WeakFact, ...]
    points: tuple[CurvePoint, ...]
    """Curves of the first few facts, from cool to hot."""
    d: float
    reading: Reading


def weakest_facts(
    tables: Tables, *, n: int = 10, n_curves: int = 3, d: float = 1, reading: Reading = BY_SCAN
) -> WeakestFacts:
    """The `n` known facts of each system with the lowest robustness score, uncapped where a fact has a curve, and the
    curves of the first `n_curves`."""
    every, rule = reading.read(tables)
    weak: list[WeakFact] = []
    points: list[CurvePoint] = []
    for facts in pool_datasets(every):
        scored = [(score, fact) for fact in facts.known if (score := _score(fact, rule, d)) is not None]
        scored.sort(key=lambda pair: (pair[0], pair[1].dataset, pair[1].question_id))
        weak += [
            _weak_fact(facts, fact, score, rank, rule, len(scored)) for rank, (score, fact) in enumerate(scored[:n], 1)
        ]
        points += [point for rank, (_, fact) in enumerate(scored[:n_curves], 1) for point in _points(facts, fact, rank)]
    return WeakestFacts(facts=tuple(weak), points=tuple(points), d=d, reading=reading.settle(tables.scan))


def _score(fact: Fact, rule: BreakingRule, d: float) -> float | None:
    uncapped = rule.score(fact, d, is_capped=False)
    return rule.score(fact, d) if uncapped is None else uncapped


def _weak_fact(facts: Facts, fact: Fact, score: float, rank: int, rule: BreakingRule, n_known: int) -> WeakFact:
    curve = fact.curve
    losses = list(curve.position_losses) if curve else []
    wrong = curve.wrong[0] if curve and curve.wrong else {}
    uncapped = rule.uncapped(fact)
    return WeakFact(
        cell=replace(facts.cell, dataset=fact.dataset, group=fact.type),
        rank=rank,
        question_id=fact.question_id,
        key=fact.key,
        score=score,
        entropy=fact.entropy,
        breaking=rule.capped(fact) if uncapped is None else uncapped,
        breaking_low=curve.breaking_low if curve else None,
        breaking_high=curve.breaking_high if curve else None,
        position=losses.index(max(losses)) if losses and max(losses) > 0 else None,
        loss=max(losses) if losses else None,
        wrong=_text(wrong.get("text")),
        wrong_probability=_number(wrong.get("probability")),
        n_known=n_known,
    )


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Json) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _points(facts: Facts, fact: Fact, rank: int) -> list[CurvePoint]:
    curve = fact.curve
    if curve is None:
        return []
    step = -(-len(curve.temperatures) // N_POINTS)
    return [
        CurvePoint(
            cell=replace(facts.cell, dataset=fact.dataset, temperature=curve.temperatures[i]),
            rank=rank,
            question_id=fact.question_id,
            key=fact.key,
            probability=Estimate(
                value=curve.value[i],
                low=curve.value_low[i],
                high=curve.value_high[i],
                level=curve.level,
                n=1,
                how="what samples leave open of one curve",
                unit="share",
                reason=None if curve.value[i] is not None else curve.value_reason,
            ),
            certain_low=curve.low[i],
            certain_high=curve.high[i],
            breaking=curve.breaking,
        )
        for i in range(0, len(curve.temperatures), step)
    ]
