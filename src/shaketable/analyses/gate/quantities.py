"""What a threshold is held against: a number for each question, in each condition of one system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from shaketable.factors import Cell
from shaketable.statistics.differences import bound_shares
from shaketable.statistics.intervals import ROUNDING, Bootstrap, Numbers
from shaketable.types import Estimate, Gate, Unit

Threshold = Literal[
    "min_accuracy",
    "max_drop",
    "max_flip_rate",
    "min_breaking_temperature",
    "min_frs",
    "max_cost",
    "max_failures",
    "max_regression",
    "max_broken",
]
EXACT_SHARE = "exact binomial bounds over questions"
OBSERVED: tuple[Threshold, ...] = ("max_failures", "max_broken")
"""Limits on what happened in this run, which need no inference: their values are those of trials, not of questions."""
MOST_RESAMPLES = 20_000
RESAMPLES_BEYOND = 20
"""Of the questions, that lie beyond a bound: with fewer it is left to chance where the bound lies."""


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """One system, in all conditions that one threshold speaks of."""

    threshold: Threshold
    metric: str
    unit: Unit
    is_difference: bool = False
    cells: tuple[Cell, ...]
    question_ids: tuple[str, ...]
    values: Numbers
    """Conditions × questions; NaN: none. Their means are what the threshold bounds."""
    filled: tuple[Numbers, ...] = ()
    """The same had all that failed been wrong, and been right; NaN where too few failed to matter."""
    weights: tuple[float, ...] = ()
    """Of the conditions, in the error that the threshold may make; empty: all alike."""
    scale: float | None = None
    """The greatest value there is, where 0 is the least and questions that agree are no endless evidence; None: as the
    unit has it."""
    same: tuple[bool, ...] = ()
    """Conditions in which nothing differs from the base, question by question; empty: in none."""
    expected: float | None = None
    """How many the repeats of the base would lead one to expect, at most; None: not known."""
    reason: str | None = None
    """Why it may not be said to hold, whatever the numbers."""
    missing: tuple[str | None, ...] = ()
    """Why a condition has no number and no verdict, one for each; empty: all have one."""

    @property
    def is_minimum(self) -> bool:
        return self.threshold.startswith("min_")

    def shares(self) -> Sequence[float]:
        """Of the error that the threshold may make, those of its conditions."""
        weights = self.weights or (1.0,) * len(self.cells)
        return [weight / sum(weights) for weight in weights]


def limits_of(gate: Gate) -> dict[Threshold, float]:
    """The thresholds on one run that a gate asks for."""
    limits: dict[Threshold, float | None] = {
        "min_accuracy": gate.min_accuracy,
        "max_drop": gate.max_drop,
        "max_flip_rate": gate.max_flip_rate,
        "min_breaking_temperature": gate.min_breaking_temperature,
        "min_frs": gate.min_frs,
        "max_cost": gate.max_cost,
        "max_failures": gate.max_failures,
    }
    return {threshold: limit for threshold, limit in limits.items() if limit is not None}


def limits_against_base(gate: Gate) -> dict[Threshold, float]:
    """The thresholds on a run beside its base."""
    broken: dict[Threshold, float] = {} if gate.max_broken is None else {"max_broken": gate.max_broken}
    return {"max_regression": gate.max_regression, **broken}


def bound(quantity: Quantity, tails: Sequence[float], n_resamples: int) -> list[Estimate]:
    """Each condition's mean with bounds beyond which the truth lies with these chances, on each side.

    Where much failed the bounds hold whatever the missing answers would have been.
    """
    if quantity.threshold in OBSERVED:
        return [_observed(row, quantity.unit) for row in quantity.values]
    estimates: list[Estimate | None] = [None] * len(tails)
    for tail in set(tails):
        rows = [i for i, own in enumerate(tails) if own == tail]
        for i, estimate in zip(rows, _bounded(quantity, rows, tail, n_resamples), strict=True):
            estimates[i] = estimate
    return [estimate for estimate in estimates if estimate is not None]


def _bounded(quantity: Quantity, rows: Sequence[int], tail: float, n_resamples: int) -> list[Estimate]:
    enough = min(MOST_RESAMPLES, max(n_resamples, int(np.ceil(RESAMPLES_BEYOND / tail))))
    bootstrap = Bootstrap(confidence=1 - 2 * tail, n_resamples=enough)

    def means(values: Numbers) -> list[Estimate]:
        if quantity.unit == "share" and not quantity.is_difference:
            return _exact(values[rows], bootstrap)
        if quantity.scale is None:
            return bootstrap.means(
                values[rows], quantity.question_ids, unit=quantity.unit, is_difference=quantity.is_difference
            )
        of_scale = bootstrap.means(values[rows] / quantity.scale, quantity.question_ids)
        return [_scaled(estimate, quantity.scale, quantity.unit) for estimate in of_scale]

    alternatives = [means(values) for values in quantity.filled]
    return [_widest(own, [filled[i] for filled in alternatives]) for i, own in enumerate(means(quantity.values))]


def _observed(values: Numbers, unit: Unit) -> Estimate:
    """The share of trials, or the number of pairs."""
    return Estimate(
        value=float(np.mean(values) if unit == "share" else np.sum(values)),
        low=None,
        high=None,
        level=1.0,
        n=len(values),
        how="counted in this run",
        unit=unit,
    )


def _exact(values: Numbers, bootstrap: Bootstrap) -> list[Estimate]:
    shares = bound_shares(values)
    low, high = np.round(shares.at(bootstrap.tail), ROUNDING)
    counts = (~np.isnan(values)).sum(axis=1).tolist()
    return [
        bootstrap.estimate(*row, n=n, unit="share", how=EXACT_SHARE)
        for row, n in zip(zip(shares.share, low, high, strict=True), counts, strict=True)
    ]


def _widest(estimate: Estimate, others: Sequence[Estimate]) -> Estimate:
    known = [own for own in (estimate, *others) if own.low is not None and own.high is not None]
    if estimate.low is None or len(known) < 2:
        return estimate
    return replace(
        estimate,
        low=min(own.low for own in known if own.low is not None),
        high=max(own.high for own in known if own.high is not None),
    )


def _scaled(estimate: Estimate, scale: float, unit: Unit) -> Estimate:
    def times(number: float | None) -> float | None:
        return None if number is None else number * scale

    return replace(estimate, unit=unit, value=times(estimate.value), low=times(estimate.low), high=times(estimate.high))
