"""Bootstrap bounds over questions of any statistic, for many conditions at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import numpy as np

from shaketable.identity import seed_from
from shaketable.statistics.bounds import Numbers

Statistic = Callable[[Numbers], Numbers]
"""How often each question was drawn (draws × questions) → values (conditions × draws)."""
Method = Literal["bca", "expanded", "percentile"]
"""`bca` (Efron 1987) moves the percentiles by bias and skewness of the draws, and apart where questions are few.
`expanded` moves them apart alone. Plain percentiles remain for what jumps, such as the best of a few temperatures."""
ROUNDING = 12
"""Decimals kept: thirds leave dust such as 1e-17, which would break ties and hide zeros."""
MOST_AT_ONCE = 4_000_000
"""Draws times questions that are in memory together, so that any number of questions fits."""
MOST_LEFT_OUT = 200
"""Of more questions several are left out at once to see how skewed a statistic is."""


def draw_counts(question_ids: Sequence[str], n_resamples: int) -> Iterator[Numbers]:
    """How often each question was drawn, draws × questions, some draws after the other. The seed is made of the ids of
    the questions alone, so that neither order nor company of the conditions changes an interval."""
    n = len(question_ids)
    rng = np.random.default_rng(seed_from("bootstrap", *question_ids))
    at_once = max(1, MOST_AT_ONCE // n)
    for start in range(0, n_resamples, at_once):
        n_draws = min(at_once, n_resamples - start)
        places = rng.integers(0, n, (n_draws, n)) + n * np.arange(n_draws)[:, None]
        yield np.bincount(places.ravel(), minlength=n * n_draws).reshape(n_draws, n).astype(np.float64)


def resampled_bounds(
    statistic: Statistic, question_ids: Sequence[str], n_resamples: int, confidence: float, method: Method
) -> Numbers:
    """Lower and upper bound of each condition; NaN where some draws leave the statistic undefined."""
    from scipy import special

    drawn = [np.round(statistic(counts), ROUNDING) for counts in draw_counts(question_ids, n_resamples)]
    draws: Numbers = np.sort(np.concatenate(drawn, axis=1), axis=1)
    n, tails = len(question_ids), np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    if method == "bca":
        value = np.round(statistic(np.ones((1, n))), ROUNDING)
        shares = _corrected(draws, value, _acceleration(statistic, n), _expanded(tails, n))
    else:
        shares = np.tile(special.ndtr(_expanded(tails, n)) if method == "expanded" else tails, (len(draws), 1))
    places = np.where(np.isnan(shares), 0, shares) * (n_resamples - 1)
    below = np.floor(places).astype(np.int64)
    low, high = (np.take_along_axis(draws, np.minimum(below + i, n_resamples - 1), axis=1) for i in (0, 1))
    # NaN is sorted to the end, so the last draw tells whether there is any.
    bounds: Numbers = np.round(low + (high - low) * (places - below), ROUNDING) + 0 * draws[:, -1:]
    return bounds


def _expanded(tails: Numbers, n: int) -> Numbers:
    """Normal quantiles as wide as those of t: resamples of a few questions vary too little (Hesterberg 2015)."""
    from scipy import special

    quantiles: Numbers = np.sqrt(n / (n - 1)) * special.stdtrit(n - 1, tails)
    return quantiles


def _corrected(draws: Numbers, value: Numbers, acceleration: Numbers, quantiles: Numbers) -> Numbers:
    """Which shares of the draws lie below the bounds."""
    from scipy import special

    n = draws.shape[1]
    below = ((draws < value).sum(axis=1) + (draws == value).sum(axis=1) / 2) / n
    bias = special.ndtri(np.clip(below, 1 / n, 1 - 1 / n))[:, None]
    moved = bias + quantiles
    corrected: Numbers = special.ndtr(bias + moved / (1 - acceleration[:, None] * moved))
    return corrected


def _acceleration(statistic: Statistic, n: int) -> Numbers:
    """A sixth of the skewness of the statistic over questions left out in turn; 0 where none changes it."""
    n_groups = min(n, MOST_LEFT_OUT)
    group = np.arange(n) * n_groups // n
    left_out = statistic((group != np.arange(n_groups)[:, None]).astype(np.float64))
    is_defined = ~np.isnan(left_out)
    mean = np.where(is_defined, left_out, 0).sum(axis=1) / np.maximum(is_defined.sum(axis=1), 1)
    influence = np.where(is_defined, mean[:, None] - left_out, 0)
    size = (influence**2).sum(axis=1) ** 1.5
    sixth: Numbers = np.divide((influence**3).sum(axis=1), 6 * size, out=np.zeros_like(size), where=size > 0)
    return sixth
