"""Estimates with bootstrap intervals over questions, for many conditions at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

from shaketable.identity import seed_from

Numbers = NDArray[np.float64]
Statistic = Callable[[Numbers], Numbers]
"""How often each question was drawn (draws × questions) → values (conditions × draws)."""


def mean_of(values: Numbers) -> Statistic:
    """The mean over questions of each row of values (conditions × questions)."""
    return lambda drawn: values @ drawn.T / drawn.sum(axis=-1)


def with_estimates(
    cells: pl.DataFrame, statistic_of: Callable[[pl.DataFrame], Statistic], *, confidence: float, n_resamples: int
) -> pl.DataFrame:
    """Adds value, low and high to conditions that have a list of `question_ids`.

    Conditions that share their questions are resampled together, so paired comparisons stay paired.
    Undefined values are None, and so are the bounds of conditions with fewer than two questions.
    """
    done = [_estimated(cells.clear(), np.empty((0, 3)))]
    for (question_ids,), group in cells.group_by("question_ids"):
        estimates = np.full((len(group), 3), np.nan)
        ids = list(question_ids)
        statistic = statistic_of(group)
        if ids:
            estimates[:, 0] = statistic(np.ones((1, len(ids))))[:, 0]
        if len(ids) > 1:
            estimates[:, 1:] = np.stack(bootstrap(statistic, ids, confidence, n_resamples), axis=-1)
        done.append(_estimated(group, estimates))
    return pl.concat(done)


def bootstrap(
    statistic: Statistic, question_ids: Sequence[str], confidence: float, n_resamples: int
) -> tuple[Numbers, Numbers]:
    """Percentile bounds for each condition. The seed is made of the question ids alone, so that neither
    order nor company of the conditions changes an interval."""
    n = len(question_ids)

    def resampled(drawn: NDArray[np.int64], axis: int = -1) -> Numbers:
        return statistic(np.apply_along_axis(np.bincount, axis, np.atleast_2d(drawn), minlength=n).astype(np.float64))

    interval = stats.bootstrap(
        (np.arange(n),),
        resampled,
        vectorized=True,
        method="percentile",
        confidence_level=confidence,
        n_resamples=n_resamples,
        rng=np.random.default_rng(seed_from("bootstrap", *question_ids)),
    ).confidence_interval
    # Sums of thirds leave dust such as 1e-17, which would push a bound off zero.
    return np.round(interval.low, 12), np.round(interval.high, 12)


def _estimated(cells: pl.DataFrame, estimates: Numbers) -> pl.DataFrame:
    columns = [pl.Series(name, estimates[:, i]).fill_nan(None) for i, name in enumerate(("value", "low", "high"))]
    return cells.with_columns(columns)
