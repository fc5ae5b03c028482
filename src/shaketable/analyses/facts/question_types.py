"""Facts of which kind does a model hold most firmly?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np

from shaketable.analyses.claims import Claim, Subject
from shaketable.analyses.facts.breaking_rule import BreakingRule
from shaketable.analyses.facts.facts import LABELS, Fact, Facts, estimate_mean, ids, numbers, pool_datasets
from shaketable.analyses.facts.reading import BY_SCAN, Reading
from shaketable.analyses.rows import Located
from shaketable.analyses.tables import Tables
from shaketable.identity import seed_from
from shaketable.statistics.intervals import Bootstrap, Numbers
from shaketable.statistics.significance import two_groups
from shaketable.types import Estimate

SHOWN = ("NUM", "LOC", "ENTY", "HUM")
"""Abbreviations and descriptions are few among facts and left out, as in the study."""
ALL_ALIKE = "all facts of both types have the same score"
Ties = Literal["entropy", "random"]


@dataclass(frozen=True, kw_only=True, slots=True)
class TypeRatio(Located):
    """Of the facts of a type among the most and least robust, the share that is among the most robust.

    Its group is the type.
    """

    share: Estimate
    n_top: int
    n_bottom: int
    n_extreme: int
    """Of all types, at either end."""
    n_tied: int | None
    """How many facts share the score at the cut of the top group; None: the group is empty."""
    n_tied_bottom: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class TypeMean(Located):
    """The mean score of a type, which needs no cut."""

    score: Estimate
    is_capped: bool
    """Whether no curve tells where a fact breaks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TypeDifference(Located):
    """The mean score of one type minus that of another; its group is the first."""

    other: str
    difference: Estimate
    p: float | None
    """That it is not 0, by facts shuffled between the types; None: a type has fewer than two, or all score the same."""

    @property
    def subject(self) -> Subject:
        return Subject(kind="types", cell=self.cell, other=self.other)


@dataclass(frozen=True, kw_only=True, slots=True)
class Untyped(Located):
    """Facts that have a score and no type."""

    n_untyped: int
    n_scored: int


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionTypes:
    """Facts of which kind does a model hold most firmly?"""

    ratios: tuple[TypeRatio, ...]
    means: tuple[TypeMean, ...]
    differences: tuple[TypeDifference, ...]
    """Of all pairs of types that have facts with a score."""
    untyped: tuple[Untyped, ...]
    """Of systems with such facts alone."""
    d: float
    reading: Reading

    def claims(self) -> Iterable[Claim]:
        """That one type is held more firmly than another; the pairs of a system weigh as one claim."""
        for own in self.differences:
            n_pairs = sum(replace(other.cell, group=own.cell.group) == own.cell for other in self.differences)
            yield Claim(subject=own.subject, estimate=own.difference, p=own.p, weight=1 / n_pairs)


def question_types(
    tables: Tables,
    *,
    d: float = 1,
    n_extreme: int | None = None,
    ties: Ties = "entropy",
    seed: int = 0,
    reading: Reading = BY_SCAN,
) -> QuestionTypes:
    """Question types among a system's most and least robust facts, all datasets pooled.

    Of the `n_extreme` highest and lowest scores (None: a third of the facts, as 1000 of 3000). Equal scores go by lower
    entropy, then accuracy at the hottest temperature, then id, or at random. Mean scores are uncapped where curves tell
    where facts break.
    """
    every, rule = reading.read(tables)
    ratios: list[TypeRatio] = []
    means: list[TypeMean] = []
    differences: list[TypeDifference] = []
    untyped = []
    for facts in pool_datasets(every):
        scored = [fact for fact in facts.known if rule.score(fact, d) is not None]
        typed = [fact for fact in scored if fact.type in LABELS]
        if len(typed) < len(scored):
            untyped.append(Untyped(cell=facts.cell, n_untyped=len(scored) - len(typed), n_scored=len(scored)))
        if typed:
            ordered = _ordered(typed, rule, d, None if ties == "entropy" else seed)
            n = len(typed) // 3 if n_extreme is None else min(n_extreme, len(typed) // 2)
            ratios += _ratios(facts, ordered, [rule.score(fact, d) for fact in ordered], n, tables.bootstrap)
            has_curves = any(rule.score(fact, d, is_capped=False) is not None for fact in typed)
            scores = numbers(rule.score(fact, d, is_capped=not has_curves) for fact in typed)
            means += _means(facts, typed, scores, tables.bootstrap, is_capped=not has_curves)
            differences += _differences(facts, typed, scores, tables.bootstrap)
    return QuestionTypes(
        ratios=tuple(ratios),
        means=tuple(means),
        differences=tuple(differences),
        untyped=tuple(untyped),
        d=d,
        reading=reading.settle(tables.scan),
    )


def _ordered(facts: Sequence[Fact], rule: BreakingRule, d: float, seed: int | None) -> list[Fact]:
    """The most robust first; with a seed, equal scores at random."""
    hottest = max((t for fact in facts for t in fact.accuracies), default=0.0)

    def rank(fact: Fact) -> tuple[float, float, float, tuple[str, str]]:
        id = (fact.dataset, fact.question_id)
        first = -(rule.score(fact, d) or 0.0)
        if seed is not None:
            return first, seed_from("ties", seed, *id), 0.0, id
        return first, fact.entropy or 0.0, -fact.accuracies.get(hottest, 0.0), id

    return sorted(facts, key=rank)


def _ratios(
    facts: Facts, ordered: Sequence[Fact], scores: Sequence[float | None], n: int, bootstrap: Bootstrap
) -> list[TypeRatio]:
    top, bottom = ordered[:n], ordered[len(ordered) - n :]
    ratios = []
    for label in SHOWN:
        of_type = [fact for fact in (*top, *bottom) if fact.type == label]
        n_top = sum(fact.type == label for fact in top)
        is_top = [1.0] * n_top + [0.0] * (len(of_type) - n_top)
        share = estimate_mean(is_top, of_type, bootstrap, unit="share")
        ratios.append(
            TypeRatio(
                cell=replace(facts.cell, group=label),
                share=share if of_type else replace(share, reason="no fact of this type among the extremes"),
                n_top=n_top,
                n_bottom=len(of_type) - n_top,
                n_extreme=n,
                n_tied=scores.count(scores[n - 1]) if n else None,
                n_tied_bottom=scores.count(scores[-n]) if n else None,
            )
        )
    return ratios


def _means(
    facts: Facts, typed: Sequence[Fact], scores: Numbers, bootstrap: Bootstrap, *, is_capped: bool
) -> list[TypeMean]:
    of_type = np.array([[fact.type == label for fact in typed] for label in SHOWN])
    return [
        TypeMean(
            cell=replace(facts.cell, group=label),
            score=score if score.n else replace(score, reason="no known fact of this type has a score"),
            is_capped=is_capped,
        )
        for label, score in zip(SHOWN, bootstrap.means(np.where(of_type, scores, np.nan), ids(typed)), strict=True)
    ]


def _differences(
    facts: Facts, typed: Sequence[Fact], scores: Numbers, bootstrap: Bootstrap
) -> Iterable[TypeDifference]:
    types = np.array([fact.type for fact in typed])
    of = {label: own for label in SHOWN if len(own := scores[(types == label) & ~np.isnan(scores)])}
    for label, other in combinations(of, 2):
        own, others = of[label], of[other]
        difference = bootstrap.difference(own, others)
        p = two_groups(own, others) if min(len(own), len(others)) > 1 else None
        if not np.ptp([*own, *others]):  # Facts that all hold tell nothing of types.
            difference, p = replace(difference, low=None, high=None, reason=ALL_ALIKE), None
        yield TypeDifference(cell=replace(facts.cell, group=label), other=other, difference=difference, p=p)
