"""Measurements of wordings averaged over questions, with intervals and tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shaketable.analyses.rows import Measured
from shaketable.analyses.wording.asked import Asked
from shaketable.analyses.wording.measurements import Measurement
from shaketable.factors import ORIGINAL
from shaketable.statistics.intervals import Bootstrap, Numbers
from shaketable.statistics.significance import holm, signed_rank
from shaketable.types import Estimate

NO_VALUE = "no question has a value"
NO_ORIGINAL = "the original wording was not asked; add original to the variations"


@dataclass(frozen=True, kw_only=True, slots=True)
class WordingNumber(Measured):
    """A mean over the questions of one system and dataset.

    Its variation is None where all wordings of a question are taken together, its dataset where all datasets are.
    """

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
    n_runs: int | None = None
    """Runs of the original wording that tell what chance does, of the question that has most; None: nobody asked."""
    p: float | None = None
    """Of a loss: two-sided, from Wilcoxon's signed ranks; None: it is none, or there was nothing to test."""
    p_adjusted: float | None = None
    """By Holm, over the variations."""


def estimate_numbers(asked: Asked, measurements: Sequence[Measurement], bootstrap: Bootstrap) -> list[WordingNumber]:
    """Means over questions with intervals; losses with their p, by Holm over the variations of a metric."""
    if not measurements:
        return []
    questions = sorted({question for measurement in measurements for question in measurement.values})
    values = np.array(
        [[measurement.values.get(question, np.nan) for question in questions] for measurement in measurements],
        dtype=np.float64,
    )
    estimates = bootstrap.means(
        values.reshape(len(measurements), len(questions)),
        questions,
        unit=[measurement.unit for measurement in measurements],
        is_difference=[measurement.is_difference for measurement in measurements],
    )
    nothing = NO_VALUE if ORIGINAL in asked.variations else NO_ORIGINAL
    numbers = []
    for measurement, estimate in zip(measurements, estimates, strict=True):
        reason = None if estimate.n else measurement.reason or nothing
        numbers.append(_number(asked, measurement, replace(estimate, reason=reason)))
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
        n_runs=measurement.n_runs,
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
