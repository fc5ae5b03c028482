"""Estimates with bootstrap intervals over questions, for many conditions at once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shaketable.identity import seed_from
from shaketable.types import Estimate, Unit

NO_SCORES = "no scores"
ROUNDING = 12
"""Decimals kept of a difference: thirds leave dust such as 1e-17, which would break ties and hide zeros."""
Numbers = NDArray[np.float64]
Indices = NDArray[np.int64]
Statistic = Callable[[Numbers], Numbers]
"""How often each question was drawn (draws × questions) → values (conditions × draws)."""
Sign = Literal[-1, 0, 1]


@dataclass(frozen=True, kw_only=True, slots=True)
class Bootstrap:
    """How intervals over questions are made.

    The interval of a share has width also where all questions agree; that of a difference of shares has not. Undefined
    values are None, and so are the bounds of conditions with fewer than two questions.
    """

    confidence: float = 0.95
    n_resamples: int = 2000

    @property
    def how(self) -> str:
        return f"bootstrap over questions ({self.n_resamples})"

    def means(
        self,
        values: Numbers,
        question_ids: Sequence[str],
        *,
        unit: Unit | Sequence[Unit] = "score",
        is_difference: bool | Sequence[bool] = False,
    ) -> list[Estimate]:
        """The mean over questions of each row of values (conditions × questions); unit and kind are of all or of each.

        NaN stands for a question without a value; each row is estimated from the questions it has.
        """
        is_known = ~np.isnan(values)
        units: list[Unit] = [unit] * len(values) if isinstance(unit, str) else list(unit)
        widen = (np.array(units) == "share") & ~np.broadcast_to(is_difference, len(values))
        estimates = np.full((len(values), 3), np.nan)
        for rows, columns in alike(is_known):
            statistic = mean_of(values[np.ix_(rows, columns)])
            estimates[rows] = self._numbers(statistic, [question_ids[i] for i in columns], widen[rows])
        counts = is_known.sum(axis=1).tolist()
        return [
            self.estimate(*row, n=n, unit=own) for row, n, own in zip(estimates.tolist(), counts, units, strict=True)
        ]

    def statistics(
        self, statistic: Statistic, question_ids: Sequence[str], n_conditions: int, *, unit: Unit = "score"
    ) -> list[Estimate]:
        """Any statistic of the questions, for each condition."""
        estimates = self._numbers(statistic, question_ids, np.zeros(n_conditions, dtype=bool))
        return [self.estimate(*row, n=len(question_ids), unit=unit) for row in estimates.tolist()]

    def of_conditions(
        self,
        statistic_of: Callable[[Sequence[int]], Statistic],
        question_ids: Sequence[Sequence[str]],
        units: Sequence[Unit],
        *,
        is_difference: bool = False,
    ) -> list[Estimate]:
        """A statistic of conditions that need not have the same questions; `statistic_of` takes places of conditions.

        Conditions that share their questions are resampled together, so paired comparisons stay paired.
        """
        groups: dict[tuple[str, ...], list[int]] = {}
        for i, ids in enumerate(question_ids):
            groups.setdefault(tuple(ids), []).append(i)
        groups.pop((), None)
        estimates = np.full((len(question_ids), 3), np.nan)
        for ids, places in groups.items():
            widen = np.array([units[i] == "share" and not is_difference for i in places])
            estimates[places] = self._numbers(statistic_of(places), ids, widen)
        return [
            self.estimate(*row, n=len(ids), unit=unit)
            for row, ids, unit in zip(estimates.tolist(), question_ids, units, strict=True)
        ]

    def difference(self, first: Numbers, second: Numbers, *, unit: Unit = "score") -> Estimate:
        """The mean of one group of questions minus that of another, each resampled by itself."""
        from scipy import stats  # It takes more than a second to import.

        value, n = float(first.mean() - second.mean()), len(first) + len(second)
        if min(len(first), len(second)) < 2:
            return self.estimate(value, np.nan, np.nan, n=n, unit=unit)
        interval = stats.bootstrap(
            (first, second),
            lambda own, other, axis: own.mean(axis=axis) - other.mean(axis=axis),
            vectorized=True,
            method="percentile",
            confidence_level=self.confidence,
            n_resamples=self.n_resamples,
            rng=np.random.default_rng(seed_from("bootstrap", str(len(first)), str(len(second)))),
        ).confidence_interval
        low, high = np.round((interval.low, interval.high), ROUNDING)
        return self.estimate(value, low, high, n=n, unit=unit)

    def estimate(
        self, value: float, low: float, high: float, *, n: int, unit: Unit = "score", reason: str | None = None
    ) -> Estimate:
        """Numbers of which NaN stands for none; without any question the reason is that there are no scores."""
        reason = reason or (NO_SCORES if not n else None)
        numbers = (None if np.isnan(number) else float(number) for number in (value, low, high))
        named = dict(zip(("value", "low", "high"), numbers, strict=True))
        return Estimate(**named, level=self.confidence, n=n, how=self.how, unit=unit, reason=reason)

    def _numbers(self, statistic: Statistic, question_ids: Sequence[str], is_share: NDArray[np.bool_]) -> Numbers:
        """Value, low and high for each condition; NaN where there are too few questions."""
        estimates = np.full((len(is_share), 3), np.nan)
        if question_ids:
            estimates[:, 0] = statistic(np.ones((1, len(question_ids))))[:, 0]
        if len(question_ids) > 1:
            estimates[:, 1:] = np.stack(self._bounds(statistic, question_ids), axis=-1)
            wide = _widened(estimates, len(question_ids), self.confidence)
            estimates = np.where(is_share[:, None], wide, estimates)
        return estimates

    def _bounds(self, statistic: Statistic, question_ids: Sequence[str]) -> tuple[Numbers, Numbers]:
        """Percentile bounds for each condition. The seed is made of the question ids alone, so that neither
        order nor company of the conditions changes an interval."""
        from scipy import stats

        n = len(question_ids)

        def resampled(drawn: Indices, axis: int = -1) -> Numbers:
            counts = np.apply_along_axis(np.bincount, axis, np.atleast_2d(drawn), minlength=n)
            return statistic(counts.astype(np.float64))

        with warnings.catch_warnings():
            # A statistic that some resamples leave undefined has no bounds; callers say so in words.
            warnings.simplefilter("ignore", stats.DegenerateDataWarning)
            interval = stats.bootstrap(
                (np.arange(n),),
                resampled,
                vectorized=True,
                method="percentile",
                confidence_level=self.confidence,
                n_resamples=self.n_resamples,
                rng=np.random.default_rng(seed_from("bootstrap", *question_ids)),
            ).confidence_interval
        # Sums of thirds leave dust such as 1e-17, which would push a bound off zero.
        return np.round(interval.low, ROUNDING), np.round(interval.high, ROUNDING)


def mean_of(values: Numbers) -> Statistic:
    """The mean over questions of each row of values (conditions × questions)."""
    return lambda drawn: values @ drawn.T / drawn.sum(axis=-1)


def sign_shown(difference: Estimate) -> Sign:
    """Of a difference whose interval lies on one side of 0; 0: it does not, or there is no interval."""
    if difference.low is not None and difference.low > 0:
        return 1
    return -1 if difference.high is not None and difference.high < 0 else 0


def complete(values: Numbers) -> Indices:
    """The questions (last axis) that have a value everywhere."""
    return np.flatnonzero(~np.isnan(values).any(axis=tuple(range(values.ndim - 1))))


def alike(is_known: NDArray[np.bool_]) -> Iterator[tuple[Indices, Indices]]:
    """The rows that have the same questions, with these questions; rows without any are left out."""
    groups: dict[bytes, list[int]] = {}
    for i, row in enumerate(is_known):
        if row.any():
            groups.setdefault(row.tobytes(), []).append(i)
    for rows in groups.values():
        yield np.array(rows), np.flatnonzero(is_known[rows[0]])


def _widened(shares: Numbers, n: int, confidence: float) -> Numbers:
    """Value, low and high of shares whose n questions agree, or almost.

    Resamples of questions that agree do so too, as if no other question could differ. As many may differ as the exact
    binomial bound (Clopper and Pearson) allows: none wrong of 30 is 0 to 12 %, not 0 to 0 %. One wrong of 30 leaves no
    less open than none, so no share is bounded more closely.
    """
    value, low, high = shares.T
    may_differ = 1 - ((1 - confidence) / 2) ** (1 / n)
    agree = low == high
    low = np.where(agree, value * (1 - may_differ), np.minimum(low, 1 - may_differ))
    high = np.where(agree, value + (1 - value) * may_differ, np.maximum(high, may_differ))
    return np.stack([value, low, high], axis=-1)
