"""The conditions of a plan whose repeats are looked at, and when: after whole repeats of all their questions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shaketable.stages.plan import Condition, Plan
from shaketable.statistics.repeated_means import least_repeats
from shaketable.types import Precision, Study, Variant

LEAST_TRIALS = 64
"""From one look to the next: of few questions several repeats are asked at once, so that a batch is not left empty."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Looked:
    """What has one mean: the questions of a dataset, worded in one way, under one condition at one temperature."""

    condition: Condition
    temperature: float
    dataset: str
    variation: str
    variants: tuple[Variant, ...]
    """All that are asked, in the order of the plan."""
    looks: tuple[int, ...]
    """Repeats after which it is decided whether to go on; the last is the most."""

    @property
    def weights(self) -> list[float]:
        """Of the wordings: every question counts as one."""
        n_wordings = Counter(variant.question_id for variant in self.variants)
        return [1 / n_wordings[variant.question_id] for variant in self.variants]

    @property
    def n_least(self) -> int:
        """Trials that are asked whatever comes of them."""
        return len(self.variants) * self.looks[0]


def looked_at(plan: Plan, conditions: Sequence[Condition]) -> Iterator[Looked]:
    datasets = {question.id: question.dataset for question in plan.questions}
    groups: dict[tuple[str, str], list[Variant]] = {}
    for variant in plan.asked:
        groups.setdefault((datasets[variant.question_id], variant.variation), []).append(variant)
    for condition in conditions:
        for temperature in plan.temperatures_of(condition):
            for (dataset, variation), variants in groups.items():
                yield Looked(
                    condition=condition,
                    temperature=temperature,
                    dataset=dataset,
                    variation=variation,
                    variants=tuple(variants),
                    looks=looks(plan.study, variants),
                )


def looks(study: Study, variants: Sequence[Variant]) -> tuple[int, ...]:
    """The repeats after which it is looked."""
    n_questions = len({variant.question_id for variant in variants})
    return look_points(precision_of(study), n_questions, len(variants), study.repeats, study.confidence)


def look_points(precision: Precision, n_questions: int, n_wordings: int, most: int, level: float) -> tuple[int, ...]:
    """Nothing that was answered decides: the first where the interval can be narrow enough at all, then one after every
    few trials."""
    first = max(precision.least, least_repeats(n_questions, precision.until, level))
    return (*range(min(first, most), most, math.ceil(LEAST_TRIALS / n_wordings)), most)


def precision_of(study: Study) -> Precision:
    assert study.precision is not None, "Only such studies are looked at."
    return study.precision


def n_least_trials(plan: Plan, conditions: Sequence[Condition] | None = None) -> int:
    """Those that are asked whatever is answered."""
    return sum(cell.n_least for cell in looked_at(plan, plan.conditions if conditions is None else conditions))
