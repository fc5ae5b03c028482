"""Estimates with intervals over questions, for many conditions at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shaketable.statistics.bounds import Flags, bound_group_difference, bound_means
from shaketable.statistics.differences import bound_differences
from shaketable.statistics.resampling import ROUNDING as ROUNDING
from shaketable.statistics.resampling import Method, resampled_bounds
from shaketable.statistics.resampling import Statistic as Statistic
from shaketable.statistics.shares import widen_agreeing, widen_shares
from shaketable.types import Estimate, Unit

NO_SCORES = "no scores"
Numbers = NDArray[np.float64]
Indices = NDArray[np.int64]
Sign = Literal[-1, 0, 1]
EXACT = "exact bounds of losses and gains over questions"
STUDENT = "t over questions, moved by their skewness"
WELCH = "Welch's t over questions, moved by their skewness"


@dataclass(frozen=True, kw_only=True, slots=True)
class Bootstrap:
    """How intervals over questions are made.

    Shares and statistics are resampled, means of scores and differences are bounded in closed form. Shares and their
    differences have an interval with width also where all questions agree. Undefined values are None, and so are the
    bounds of conditions with fewer than two questions.
    """

    confidence: float = 0.95
    n_resamples: int = 2000

    @property
    def how(self) -> str:
        return f"bootstrap over questions ({self.n_resamples})"

    @property
    def tail(self) -> float:
        """What may lie beyond each bound."""
        return (1 - self.confidence) / 2

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
        units: list[Unit] = [unit] * len(values) if isinstance(unit, str) else list(unit)
        is_share, differs = np.array(units) == "share", np.broadcast_to(is_difference, len(values))
        is_level, is_exact = ~is_share & ~differs, np.zeros(len(values), dtype=bool)
        numbers = self._shares(values, question_ids, is_share & ~differs)
        numbers[is_level] = self._levels(values[is_level], np.array(units)[is_level] == "score")
        is_amount = np.isin(units, ("count", "seconds")) & is_level & ~(values < 0).any(axis=1)
        numbers[is_amount] = numbers[is_amount].clip(0)  # No mean of counts or of times lies below 0.
        has_scale = is_share | (np.array(units) == "score")
        numbers[differs], is_exact[differs] = self._differences(values[differs], is_share[differs], has_scale[differs])
        hows = np.select([is_exact, is_share & ~differs], [EXACT, self.how], STUDENT).tolist()
        counts = (~np.isnan(values)).sum(axis=1).tolist()
        return [
            self.estimate(*row, n=n, unit=own, how=how)
            for row, n, own, how in zip(numbers.tolist(), counts, units, hows, strict=True)
        ]

    def statistics(
        self,
        statistic: Statistic,
        question_ids: Sequence[str],
        n_conditions: int,
        *,
        unit: Unit = "score",
        method: Method = "bca",
    ) -> list[Estimate]:
        """Any statistic of the questions, for each condition."""
        numbers = self._resampled(statistic, question_ids, n_conditions, method)
        return [self.estimate(*row, n=len(question_ids), unit=unit) for row in numbers.tolist()]

    def difference(self, first: Numbers, second: Numbers, *, unit: Unit = "score") -> Estimate:
        """The mean of one group of questions minus that of another."""
        bounded = bound_group_difference(first, second)
        low, high = np.round(bounded.at(self.tail), ROUNDING)[:, 0]
        n = len(first) + len(second)
        return self.estimate(float(bounded.value[0]), low, high, n=n, unit=unit, how=WELCH)

    def estimate(
        self,
        value: float,
        low: float,
        high: float,
        *,
        n: int,
        unit: Unit = "score",
        reason: str | None = None,
        how: str | None = None,
    ) -> Estimate:
        """Numbers of which NaN stands for none; without any question the reason is that there are no scores."""
        own, least, most = (None if np.isnan(number) else float(number) for number in (value, low, high))
        return Estimate(
            value=own,
            low=least,
            high=most,
            level=self.confidence,
            n=n,
            how=how or self.how,
            unit=unit,
            reason=reason or (None if n else NO_SCORES),
        )

    def _shares(self, values: Numbers, question_ids: Sequence[str], is_share: Flags) -> Numbers:
        """Value, low and high of the rows that are shares; NaN for the others."""
        numbers = np.full((len(values), 3), np.nan)
        places = np.flatnonzero(is_share)
        for rows, columns in alike(~np.isnan(values[places])):
            own, ids = places[rows], [question_ids[i] for i in columns]
            resampled = self._resampled(mean_of(values[np.ix_(own, columns)]), ids, len(own), "percentile")
            numbers[own] = widen_shares(resampled, len(ids), self.tail)
        return numbers

    def _levels(self, values: Numbers, is_score: Flags) -> Numbers:
        """Value, low and high of mean scores.

        Scores that all lie between 0 and 1 have a mean there too, are no endless evidence where all lie at one end, and
        have bounds that hold though two more questions lay at the far end: a few disasters are in no small sample.
        """
        bounded, n = bound_means(values), (~np.isnan(values)).sum(axis=1)
        numbers = np.round(np.stack([bounded.value, *bounded.at(self.tail)], axis=-1), ROUNDING)
        is_within = is_score & ~((values < 0) | (values > 1)).any(axis=1)
        is_high, differ = bounded.value >= 0.5, numbers[:, 1] < numbers[:, 2]
        to_far_end = np.stack([0 * n, -bounded.value * is_high, (1 - bounded.value) * ~is_high], axis=-1)
        two_more = 2 * to_far_end / (n + 2)[:, None]
        within: Numbers = (numbers + np.where(differ[:, None], two_more, 0.0)).clip(0, 1)
        is_at_end = np.isin(numbers[:, 0], (0, 1))
        within = np.where(is_at_end[:, None], widen_agreeing(within, n, self.tail), within)
        return np.where(is_within[:, None], within, numbers)

    def _differences(self, values: Numbers, is_share: Flags, has_scale: Flags) -> tuple[Numbers, Flags]:
        """Value, low and high of mean differences, and which of them have exact bounds."""
        bounded = bound_differences(values, is_share, has_scale)
        low, high = np.round(bounded.at(self.tail), ROUNDING)
        return np.stack([bounded.student.value, low, high], axis=-1), bounded.is_exact

    def _resampled(
        self, statistic: Statistic, question_ids: Sequence[str], n_conditions: int, method: Method
    ) -> Numbers:
        """Value, low and high for each condition; NaN where there are too few questions."""
        numbers = np.full((n_conditions, 3), np.nan)
        if question_ids:
            numbers[:, 0] = statistic(np.ones((1, len(question_ids))))[:, 0]
        if len(question_ids) > 1:
            numbers[:, 1:] = resampled_bounds(statistic, question_ids, self.n_resamples, self.confidence, method)
        return numbers


def within(estimate: Estimate, least: float, most: float) -> Estimate:
    """Return the estimate with its value and interval between bounds that the truth cannot leave."""
    value, low, high = (
        None if number is None else min(max(number, least), most)
        for number in (estimate.value, estimate.low, estimate.high)
    )
    return replace(estimate, value=value, low=low, high=high)


def cut_interval(estimate: Estimate, least: float, most: float) -> Estimate:
    """Return the estimate with its interval between bounds; an unbiased value beyond them stays, and is its end."""
    value = estimate.value or 0.0
    return within(estimate, min(value, least), max(value, most))


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


def alike(is_known: Flags) -> Iterator[tuple[Indices, Indices]]:
    """The rows that have the same questions, with these questions; rows without any are left out."""
    groups: dict[bytes, list[int]] = {}
    for i, row in enumerate(is_known):
        if row.any():
            groups.setdefault(row.tobytes(), []).append(i)
    for rows in groups.values():
        yield np.array(rows), np.flatnonzero(is_known[rows[0]])
