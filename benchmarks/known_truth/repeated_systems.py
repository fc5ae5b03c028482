"""Systems whose chance to answer each question right is known, repeated until their mean is known well enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shaketable.stages.repeating.looks import look_points
from shaketable.statistics.intervals import Bootstrap
from shaketable.statistics.repeated_means import RepeatedMean, log_mixture
from shaketable.types import Precision

Numbers = NDArray[np.float64]
LEVEL = 0.95
Z = 1.959964
"""Of a plain 95 % interval at a number of repeats that was fixed beforehand."""

SHAPES: Mapping[str, Callable[[np.random.Generator, int], Numbers]] = {
    "all right": lambda rng, n: np.ones(n),
    "all wrong": lambda rng, n: np.zeros(n),
    "60 % right, never changing": lambda rng, n: (np.arange(n) < 0.6 * n).astype(float),
    "nearly fixed: beta(.1, .1)": lambda rng, n: rng.beta(0.1, 0.1, n),
    "mixed: beta(.3, .2)": lambda rng, n: rng.beta(0.3, 0.2, n),
    "even: beta(1, 1)": lambda rng, n: rng.beta(1, 1, n),
    "all at 0.9": lambda rng, n: np.full(n, 0.9),
    "all at 0.5": lambda rng, n: np.full(n, 0.5),
    "rarely right: all at 0.02": lambda rng, n: np.full(n, 0.02),
}
"""Name → chances of the questions, drawn anew for each system."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Walk:
    """What became of one system."""

    n_repeats: int
    """Where it stopped."""
    is_narrow: bool
    holds_at_stop: bool
    holds_always: bool
    """Whether the interval held the truth at every repeat up to the most, also after the stop."""
    n_fixed: float
    """Repeats that a plain interval of the same width takes of somebody who knows how much each question varies."""
    n_cautious: float
    """Of somebody who knows the mean alone, and counts every answer as drawn anew."""
    answers: Numbers
    """Repeats × questions, up to the stop."""


def walk(chances: Numbers, until: float, rng: np.random.Generator, most: int = 50, missing: float = 0.0) -> Walk:
    """`missing`: the share of answers that fail."""
    n, truth, bar = len(chances), float(chances.mean()), math.log(2 / (1 - LEVEL))
    answers = (rng.random((most, n)) < chances).astype(np.float64)
    answers[rng.random((most, n)) < missing] = math.nan
    looks = look_points(Precision(until=until), n, n, most, LEVEL)
    mean, stop, is_narrow, at_stop, always = RepeatedMean([1.0] * n), most, False, True, True
    has_stopped = False
    for repeat, values in enumerate(answers, start=1):
        mean.add(values)
        excess = abs(mean.total - _expected(answers[1:repeat], chances, truth))
        holds = not mean.weight or log_mixture(excess, mean.off) < bar
        always &= holds
        if not has_stopped and repeat in looks:
            low, high = mean.interval(LEVEL)
            is_narrow = high - low <= 2 * until + 1e-9
            has_stopped, stop, at_stop = is_narrow or repeat == most, repeat, holds
    return Walk(
        n_repeats=stop,
        is_narrow=is_narrow,
        holds_at_stop=at_stop,
        holds_always=always,
        n_fixed=(Z / until) ** 2 * float((chances * (1 - chances)).mean()) / n,
        n_cautious=(Z / until) ** 2 * truth * (1 - truth) / n,
        answers=answers[:stop],
    )


def _expected(answers: Numbers, chances: Numbers, truth: float) -> float:
    """Of the answers that count; where none is missing, the mean of all questions for each repeat."""
    is_known = ~np.isnan(answers)
    return truth * answers.size if is_known.all() else float((is_known * chances).sum())


def interval_over_questions(answers: Numbers, seed: int) -> tuple[float, float]:
    """What a report tells of the mean over all questions of this kind."""
    with np.errstate(invalid="ignore"):
        means = np.nanmean(answers, axis=0)
    ids = [f"{seed}-{i}" for i in range(len(means))]
    [estimate] = Bootstrap(confidence=LEVEL, n_resamples=1000).means(means[None], ids, unit="share")
    assert estimate.low is not None and estimate.high is not None
    return estimate.low, estimate.high
