"""Numbers of wordings: measured question by question, then averaged over questions, with intervals and tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shaketable.analyses.wording.answers import Asked, Reply
from shaketable.factors import ORIGINAL, Cell
from shaketable.statistics.intervals import Bootstrap, Numbers, mean_estimates
from shaketable.statistics.significance import holm, signed_rank
from shaketable.types import Estimate, Unit

NO_VALUE = "no question has a value"
NO_ORIGINAL = "the original wording was not asked; add original to the variations"


@dataclass(frozen=True, kw_only=True, slots=True)
class WordingNumber:
    """A mean over the questions of one system and dataset."""

    cell: Cell
    """Its variation is None where all wordings of a question are taken together, its dataset where all datasets are."""
    metric: str
    estimate: Estimate
    is_loss: bool = False
    """Original minus reworded, paired by question: what rewording takes away."""
    answered_only: bool = False
    """Of trials alone whose answer is not empty; of pairs, where neither is."""
    with_people: bool = True
    """False: without rewrites by people, where all wordings are taken together."""
    hop: int | None = None
    """Of this search alone, from 1; None: of all."""
    n_failed: int
    """Trials that failed, and are in no number."""
    n_incomplete: int | None = None
    """Questions that lack some of the wordings taken together; None: not counted."""
    p: float | None = None
    """Of a loss: two-sided, from Wilcoxon's signed ranks; None: it is none, or there was nothing to test."""
    p_adjusted: float | None = None
    """By Holm, over the variations."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """A number by question, before it is averaged; its other fields are those of the number that it becomes."""

    metric: str
    variation: str | None
    values: Mapping[str, float]
    """By question id."""
    unit: Unit = "score"
    reason: str | None = None
    """Why there are no values."""
    is_loss: bool = False
    is_difference: bool = False
    """It may be negative; a loss is one."""
    answered_only: bool = False
    with_people: bool = True
    hop: int | None = None
    n_incomplete: int | None = None


def measure(
    asked: Asked,
    metric: str,
    number: Callable[[Reply], float | None],
    unit: Unit = "score",
    *,
    reason: str | None = None,
) -> list[Measurement]:
    """The mean of a number for each variation."""
    means = asked.means(number)
    return [
        Measurement(metric=metric, variation=variation, values=means.get(variation, {}), unit=unit, reason=reason)
        for variation in asked.variations
    ]


def measure_pairs(
    asked: Asked,
    metric: str,
    number: Callable[[Reply, Reply], float | None],
    unit: Unit = "score",
    *,
    reason: str | None = None,
) -> list[Measurement]:
    """The mean of a number of original and reworded for each variation."""
    means = asked.paired(number)
    return [
        Measurement(metric=metric, variation=variation, values=means.get(variation, {}), unit=unit, reason=reason)
        for variation in asked.reworded
    ]


def measure_losses(
    asked: Asked, metric: str, number: Callable[[Reply], float | None], unit: Unit = "score"
) -> list[Measurement]:
    """The mean of a number for each variation, and what it loses against the original, paired by question."""

    def lose(original: Reply, reworded: Reply) -> float | None:
        before, after = number(original), number(reworded)
        return None if before is None or after is None else before - after

    losses = measure_pairs(asked, metric, lose, unit)
    return measure(asked, metric, number, unit) + [replace(loss, is_loss=True, is_difference=True) for loss in losses]


def measure_sets(
    asked: Asked, metric: str, number: Callable[[list[Reply]], float | None], *, reason: str | None = None
) -> list[Measurement]:
    """A number of all wordings of a question together, and of those that no person wrote where there are both."""
    measurements = []
    for with_people in asked.choices_of_people if asked.reworded else ():
        sizes = {question: len(run) for question, run in asked.sets(with_people=with_people)}
        measurements.append(
            Measurement(
                metric=metric,
                variation=None,
                values=asked.over_sets(number, with_people=with_people),
                reason=reason,
                with_people=with_people,
                n_incomplete=sum(n < max(sizes.values()) for n in sizes.values()),
            )
        )
    return measurements


def estimate_numbers(asked: Asked, measurements: Sequence[Measurement], bootstrap: Bootstrap) -> list[WordingNumber]:
    """Means over questions with intervals; losses with their p, by Holm over the variations of a metric."""
    if not measurements:
        return []
    questions = sorted({question for measurement in measurements for question in measurement.values})
    values = np.array(
        [[measurement.values.get(question, np.nan) for question in questions] for measurement in measurements],
        dtype=np.float64,
    )
    estimates, counts = mean_estimates(
        values.reshape(len(measurements), len(questions)),
        questions,
        confidence=bootstrap.confidence,
        n_resamples=bootstrap.n_resamples,
        is_share=np.array([one.unit == "share" and not one.is_difference for one in measurements]),
    )
    nothing = NO_VALUE if ORIGINAL in asked.variations else NO_ORIGINAL
    numbers = []
    for measurement, (value, low, high), n in zip(measurements, estimates.tolist(), counts.tolist(), strict=True):
        reason = None if n else measurement.reason or nothing
        estimate = bootstrap.estimate(value, low, high, n=n, unit=measurement.unit, reason=reason)
        numbers.append(_number(asked, measurement, estimate))
    return _adjusted(numbers)


def count_failed(asked: Asked, variation: str | None) -> int:
    """Trials of a variation that failed; None: of all."""
    return asked.n_failed.get(variation, 0) if variation else sum(asked.n_failed.values())


def _number(asked: Asked, measurement: Measurement, estimate: Estimate) -> WordingNumber:
    differences = np.array(list(measurement.values.values()), dtype=np.float64)
    return WordingNumber(
        cell=replace(asked.cell, variation=measurement.variation),
        metric=measurement.metric,
        estimate=estimate,
        is_loss=measurement.is_loss,
        answered_only=measurement.answered_only,
        with_people=measurement.with_people,
        hop=measurement.hop,
        n_failed=count_failed(asked, measurement.variation),
        n_incomplete=measurement.n_incomplete,
        p=_two_sided_p(differences) if measurement.is_loss and estimate.n else None,
    )


def _adjusted(numbers: Sequence[WordingNumber]) -> list[WordingNumber]:
    families: dict[tuple[str, bool], list[float | None]] = {}
    for number in numbers:
        families.setdefault((number.metric, number.answered_only), []).append(number.p)
    adjusted = {family: iter(holm(p_values)) for family, p_values in families.items()}
    return [replace(number, p_adjusted=next(adjusted[number.metric, number.answered_only])) for number in numbers]


def _two_sided_p(differences: Numbers) -> float:
    return min(1.0, 2 * min(signed_rank(differences)[1], signed_rank(-differences)[1]))
