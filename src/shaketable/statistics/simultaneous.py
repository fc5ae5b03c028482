"""The most of several: intervals that hold together, and estimates without what choosing the largest adds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from shaketable.identity import seed_from
from shaketable.statistics.intervals import Bootstrap, Numbers
from shaketable.statistics.resampling import MOST_AT_ONCE
from shaketable.types import Estimate, Unit

N_DRAWS = 4_000
TOGETHER = "max-|t| over all of them, the value drawn towards their mean"


def differences_together(
    values: Numbers, question_ids: Sequence[str], bootstrap: Bootstrap, *, unit: Unit
) -> list[Estimate]:
    """Mean differences (conditions × questions, two or more of each) as some of several: the largest may be told."""
    joint = replace(bootstrap, confidence=joint_confidence(values, question_ids, bootstrap.confidence))
    bounds = joint.means(values, question_ids, unit=unit, is_difference=True)
    return [
        replace(bound, value=value, level=bootstrap.confidence, how=TOGETHER)
        for bound, value in zip(bounds, shrink(values).tolist(), strict=True)
    ]


def joint_confidence(values: Numbers, question_ids: Sequence[str], confidence: float) -> float:
    """What each interval of a mean (conditions × questions) needs so that all of them hold together.

    By max-|t|: the largest of all standardized means, whose noise is drawn anew with one normal multiplier for each
    question, so that conditions which share questions share their noise. NaN stands for a question without a value.
    """
    deviations = _deviations(values)
    sizes = np.sqrt((deviations**2).sum(axis=1, keepdims=True))
    scaled = np.divide(deviations, sizes, out=np.zeros_like(deviations), where=sizes > 0)
    rng = np.random.default_rng(seed_from("simultaneous", *question_ids))
    sums = np.zeros((len(values), N_DRAWS))
    for some in np.array_split(scaled, 1 + len(question_ids) * N_DRAWS // MOST_AT_ONCE, axis=1):
        sums += some @ rng.standard_normal((some.shape[1], N_DRAWS))
    largest = np.abs(sums).max(axis=0)
    joint = 1 - 2 * NormalDist().cdf(-float(np.quantile(largest, confidence)))
    return max(confidence, joint)


def shrink(values: Numbers) -> Numbers:
    """The means of conditions (conditions × questions), drawn towards their common mean by the noise among them.

    Empirical Bayes: of the spread of the means only what exceeds that of their noise is real. Noise that conditions
    share moves all of them alike, and does not spread them.
    """
    means, n = np.nanmean(values, axis=1), len(values)
    counts = (~np.isnan(values)).sum(axis=1)
    errors = _deviations(values) / counts[:, None]
    covariance = errors @ errors.T * np.mean(counts / np.maximum(counts - 1, 1))
    noise = np.trace(covariance) / n - (covariance.sum() - np.trace(covariance)) / (n * (n - 1))
    spread = means.var(ddof=1)
    kept = max(0.0, 1 - noise / spread) if spread > 0 else 0.0
    shrunken: Numbers = means.mean() + kept * (means - means.mean())
    return shrunken


def _deviations(values: Numbers) -> Numbers:
    """From the mean of each condition; 0 for a question without a value."""
    deviations: Numbers = np.nan_to_num(values - np.nanmean(values, axis=1, keepdims=True))
    return deviations
