"""Measurements of wordings averaged over questions, with intervals and tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shaketable.analyses.rows import Bounded
from shaketable.analyses.wording.asked import Asked
from shaketable.analyses.wording.measurements import Measurement
from shaketable.factors import ORIGINAL
from shaketable.statistics.intervals import Bootstrap, Numbers
from shaketable.statistics.sign_flips import sign_flip
from shaketable.statistics.simultaneous import differences_together
from shaketable.types import Estimate

NO_VALUE = "no question has a value"
NO_ORIGINAL = "the original wording was not asked; add original to the variations"


@dataclass(frozen=True, kw_only=True, slots=True)
class WordingNumber(Bounded):
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
    """Of a difference: that it is not 0, by signs flipped, not adjusted; None: it is none, or there is no value."""
    among: Estimate | None = None
    """A loss as one of several, which a sentence may call the most of them: drawn towards their mean, with an interval
    that holds for all of them together. None: it is alone, or never spoken of so."""


def estimate_numbers(
    asked: Asked, measurements: Sequence[Measurement], bootstrap: Bootstrap, *, tells_most: bool = False
) -> list[WordingNumber]:
    """Means over questions with intervals; differences with their p.

    `tells_most`: losses of several rewordings are estimated among one another too.
    """
    if not measurements:
        return []
    questions = sorted({question for measurement in measurements for question in measurement.values})
    values = np.array(
        [[measurement.values.get(question, np.nan) for question in questions] for measurement in measurements],
        dtype=np.float64,
    )
    values = values.reshape(len(measurements), len(questions))
    estimates = bootstrap.means(
        values,
        questions,
        unit=[measurement.unit for measurement in measurements],
        is_difference=[measurement.is_difference for measurement in measurements],
    )
    p_values = _test(measurements, values, questions)
    among = _estimate_together(measurements, values, questions, bootstrap) if tells_most else {}
    nothing = NO_VALUE if ORIGINAL in asked.variations else NO_ORIGINAL
    numbers = []
    for i, (measurement, estimate, p) in enumerate(zip(measurements, estimates, p_values, strict=True)):
        reason = None if estimate.n else measurement.reason or nothing
        number = _number(asked, measurement, replace(estimate, reason=reason), p)
        numbers.append(replace(number, among=among.get(i)))
    return numbers


def count_failed(asked: Asked, variation: str | None) -> int:
    """Trials of a variation that failed; None: of all."""
    return asked.n_failed.get(variation, 0) if variation else sum(asked.n_failed.values())


def _test(measurements: Sequence[Measurement], values: Numbers, questions: Sequence[str]) -> list[float | None]:
    """That differences are not 0; None for other numbers, and without any value."""
    p_values: list[float | None] = [None] * len(measurements)
    tested = [i for i, measurement in enumerate(measurements) if measurement.is_difference and measurement.values]
    for i, p in zip(tested, sign_flip(values[tested], questions) if tested else (), strict=True):
        p_values[i] = p
    return p_values


def _estimate_together(
    measurements: Sequence[Measurement], values: Numbers, questions: Sequence[str], bootstrap: Bootstrap
) -> dict[int, Estimate]:
    """Losses of all rewordings, of two questions or more, by their place."""
    of_two = (~np.isnan(values)).sum(axis=1) > 1
    losses = [i for i, own in enumerate(measurements) if own.is_loss and not own.answered_only and of_two[i]]
    if len(losses) < 2:
        return {}
    unit = measurements[losses[0]].unit
    together = differences_together(values[losses], questions, bootstrap, unit=unit)
    return dict(zip(losses, together, strict=True))


def _number(asked: Asked, measurement: Measurement, estimate: Estimate, p: float | None) -> WordingNumber:
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
        p=p,
    )
