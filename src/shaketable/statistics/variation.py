"""Coefficients of variation of few runs: their bias, and what each question adds to them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shaketable.statistics.intervals import Bootstrap, Numbers
from shaketable.statistics.simultaneous import joint_confidence, shrink
from shaketable.types import Estimate, Unit

TOGETHER = "t over questions, for all temperatures at once (max-|t|), drawn towards their mean"


def c4(n_runs: int) -> float:
    """The sd of so many normal scores is expected to be this part of the true one: .80 of 2, .89 of 3, .97 of 10."""
    return math.sqrt(2 / (n_runs - 1)) * math.exp(math.lgamma(n_runs / 2) - math.lgamma((n_runs - 1) / 2))


def ratio_by_question(sds: Numbers, means: Numbers) -> Numbers:
    """What each question adds to mean sd / mean score: values whose mean is that ratio.

    To first order they vary as the ratio does when other questions are drawn, so that an interval of their mean is one
    of the ratio.
    """
    mean = float(means.mean())
    if mean <= 0:
        return np.full_like(means, np.nan)
    ratio = sds.mean() / mean
    by_question: Numbers = ratio + (sds - ratio * means) / mean
    return by_question


def deviation_by_question(means: Numbers, ddof: int) -> Numbers:
    """What each question adds to the sd between questions / their mean, in the same way."""
    n = len(means)
    if n <= ddof:
        return np.full_like(means, np.nan)
    return pooled_by_question((means - means.mean()) ** 2 * n / (n - ddof), means)


def pooled_by_question(variances: Numbers, means: Numbers) -> Numbers:
    """What each question adds to the root of the mean variance / mean score, in the same way."""
    mean = float(means.mean())
    if mean <= 0:
        return np.full_like(means, np.nan)
    sd = math.sqrt(variances.mean())
    if not sd:
        return np.zeros_like(means)
    by_question: Numbers = sd / mean * (1 + (variances / sd**2 - 1) / 2 - (means - mean) / mean)
    return by_question


@dataclass(frozen=True, kw_only=True, slots=True)
class ByQuestion:
    """What each question adds to a number: values of which it is the mean."""

    question_ids: tuple[str, ...]
    values: Numbers


def average_by_question(every: Sequence[ByQuestion]) -> ByQuestion:
    """Of the average of several numbers, which need not be of the same questions."""
    ids = sorted({id for own in every for id in own.question_ids})
    place = {id: i for i, id in enumerate(ids)}
    added = np.zeros(len(ids))
    for own in every:
        mean = own.values.mean()
        added += mean
        added[[place[id] for id in own.question_ids]] += (own.values - mean) * len(ids) / len(own.values)
    return ByQuestion(question_ids=tuple(ids), values=added / len(every))


def estimate_ratios(every: Sequence[ByQuestion], bootstrap: Bootstrap, unit: Unit = "ratio") -> list[Estimate]:
    """Numbers of the same questions are resampled together."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for i, own in enumerate(every):
        groups.setdefault(own.question_ids, []).append(i)
    estimates = [bootstrap.estimate(np.nan, np.nan, np.nan, n=0, unit=unit, reason="no scores")] * len(every)
    groups.pop((), None)
    for ids, places in groups.items():
        means = bootstrap.means(np.stack([every[i].values for i in places]), ids, unit=unit)
        for i, mean in zip(places, means, strict=True):
            estimates[i] = replace(mean, low=None if mean.low is None else max(mean.low, 0.0))
    return estimates


def estimate_together(every: Sequence[ByQuestion], bootstrap: Bootstrap, unit: Unit = "ratio") -> list[Estimate]:
    """Of numbers whose largest will be chosen: drawn towards their mean, with intervals that hold all at once."""
    ids = sorted({id for own in every for id in own.question_ids})
    place = {id: i for i, id in enumerate(ids)}
    values = np.full((len(every), len(ids)), np.nan)
    for row, own in zip(values, every, strict=True):
        row[[place[id] for id in own.question_ids]] = own.values
    joint = replace(bootstrap, confidence=joint_confidence(values, ids, bootstrap.confidence))
    estimates = estimate_ratios(every, joint, unit)
    return [
        replace(
            estimate,
            value=value,
            low=None if estimate.low is None else min(estimate.low, value),
            level=bootstrap.confidence,
            how=TOGETHER,
        )
        for estimate, value in zip(estimates, shrink(values).tolist(), strict=True)
    ]
