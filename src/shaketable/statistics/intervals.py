"""Estimates with bootstrap intervals over questions, for many conditions at once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shaketable.identity import seed_from
from shaketable.types import Estimate, Unit

ROUNDING = 12
"""Decimals kept of a difference: thirds leave dust such as 1e-17, which would break ties and hide zeros."""
Numbers = NDArray[np.float64]
Indices = NDArray[np.int64]
Statistic = Callable[[Numbers], Numbers]
"""How often each question was drawn (draws × questions) → values (conditions × draws)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bootstrap:
    """How intervals over questions are made."""

    confidence: float = 0.95
    n_resamples: int = 2000

    @property
    def how(self) -> str:
        return f"bootstrap over questions ({self.n_resamples})"

    def means(
        self, values: Numbers, question_ids: Sequence[str], *, unit: Unit = "score", is_difference: bool = False
    ) -> list[Estimate]:
        """The mean over questions of each row of values (conditions × questions).

        NaN stands for a question without a value; each row is estimated from the questions it has. The interval of a
        share has width also where all questions agree; that of a difference of shares has not.
        """
        widen = unit == "share" and not is_difference
        settings: dict[str, Any] = {"confidence": self.confidence, "n_resamples": self.n_resamples}
        estimates, counts = mean_estimates(values, question_ids, is_share=widen, **settings)
        return [self.estimate(*row, n=n, unit=unit) for row, n in zip(estimates.tolist(), counts.tolist(), strict=True)]

    def statistics(
        self, statistic: Statistic, question_ids: Sequence[str], n_conditions: int, *, unit: Unit = "score"
    ) -> list[Estimate]:
        """Any statistic of the questions, for each condition."""
        settings: dict[str, Any] = {"confidence": self.confidence, "n_resamples": self.n_resamples}
        estimates = estimated(statistic, question_ids, n_conditions, **settings)
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

        Conditions that share their questions are resampled together, so paired comparisons stay paired. Shares are
        widened as in `means`.
        """
        groups: dict[tuple[str, ...], list[int]] = {}
        for i, ids in enumerate(question_ids):
            groups.setdefault(tuple(ids), []).append(i)
        settings: dict[str, Any] = {"confidence": self.confidence, "n_resamples": self.n_resamples}
        estimates = np.full((len(question_ids), 3), np.nan)
        groups.pop((), None)
        for ids, places in groups.items():
            widen = np.array([units[i] == "share" and not is_difference for i in places])
            estimates[places] = estimated(statistic_of(places), ids, len(places), is_share=widen, **settings)
        return [
            self.estimate(*row, n=len(ids), unit=unit, reason=None if ids else "no scores")
            for row, ids, unit in zip(estimates.tolist(), question_ids, units, strict=True)
        ]

    def difference(self, first: Numbers, second: Numbers, *, unit: Unit = "score") -> Estimate:
        """The mean of one group of questions minus that of another, each resampled by itself."""
        settings: dict[str, Any] = {"confidence": self.confidence, "n_resamples": self.n_resamples}
        numbers = difference_of_groups(first, second, **settings)
        return self.estimate(*numbers.tolist(), n=len(first) + len(second), unit=unit)

    def estimate(
        self, value: float, low: float, high: float, *, n: int, unit: Unit = "score", reason: str | None = None
    ) -> Estimate:
        """Numbers of which NaN stands for none."""
        numbers = (None if np.isnan(number) else float(number) for number in (value, low, high))
        named = dict(zip(("value", "low", "high"), numbers, strict=True))
        return Estimate(**named, level=self.confidence, n=n, how=self.how, unit=unit, reason=reason)


AGREED = "Where all questions agree on a share, or almost, its interval reaches as far as the exact binomial one."


def agreed(rows: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """What a finding says where questions agreed and an interval was widened: a difference of 0 has no width, or goes
    below 0."""
    is_widened = any(
        row["unit"] == "share"
        and row["value"] in (0.0, 1.0)
        and row["low"] is not None
        and 0 <= row["low"] < row["high"]
        for row in rows
    )
    return (AGREED,) if is_widened else ()


def mean_of(values: Numbers) -> Statistic:
    """The mean over questions of each row of values (conditions × questions)."""
    return lambda drawn: values @ drawn.T / drawn.sum(axis=-1)


def with_estimates(
    cells: pl.DataFrame,
    statistic_of: Callable[[pl.DataFrame], Statistic],
    *,
    confidence: float,
    n_resamples: int,
    is_share: pl.Expr | None = None,
) -> pl.DataFrame:
    """Adds value, low and high to conditions that have a list of `question_ids`.

    Conditions that share their questions are resampled together, so paired comparisons stay paired.
    Undefined values are None, and so are the bounds of conditions with fewer than two questions.
    """
    done = [_estimated(cells.clear(), np.empty((0, 3)))]
    for (question_ids,), group in cells.group_by("question_ids"):
        estimates = estimated(
            statistic_of(group),
            list(question_ids),
            len(group),
            confidence=confidence,
            n_resamples=n_resamples,
            is_share=False if is_share is None else group.select(is_share).to_series().to_numpy(),
        )
        done.append(_estimated(group, estimates))
    return pl.concat(done)


def mean_estimates(
    values: Numbers,
    question_ids: Sequence[str],
    *,
    confidence: float,
    n_resamples: int,
    is_share: bool | NDArray[np.bool_] = False,
) -> tuple[Numbers, NDArray[np.int64]]:
    """Value, low and high for each row of values (conditions × questions), and its n.

    NaN stands for a question without a value; each row is estimated from the questions it has.
    """
    is_known = ~np.isnan(values)
    estimates = np.full((len(values), 3), np.nan)
    for rows, columns in alike(is_known):
        ids = [question_ids[i] for i in columns]
        statistic = mean_of(values[np.ix_(rows, columns)])
        estimates[rows] = estimated(
            statistic,
            ids,
            len(rows),
            confidence=confidence,
            n_resamples=n_resamples,
            is_share=np.broadcast_to(is_share, len(values))[rows],
        )
    return estimates, is_known.sum(axis=1)


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


def estimated(
    statistic: Statistic,
    question_ids: Sequence[str],
    n_conditions: int,
    *,
    confidence: float,
    n_resamples: int,
    is_share: bool | NDArray[np.bool_] = False,
) -> Numbers:
    """Value, low and high of a statistic for each condition; NaN where there are too few questions. Conditions that are
    shares have an interval with width also where all questions agree."""
    estimates = np.full((n_conditions, 3), np.nan)
    if question_ids:
        estimates[:, 0] = statistic(np.ones((1, len(question_ids))))[:, 0]
    if len(question_ids) > 1:
        estimates[:, 1:] = np.stack(bootstrap(statistic, question_ids, confidence, n_resamples), axis=-1)
        wide = _widened(estimates, len(question_ids), confidence)
        estimates = np.where(np.reshape(is_share, (-1, 1)), wide, estimates)
    return estimates


def difference_of_groups(first: Numbers, second: Numbers, *, confidence: float, n_resamples: int) -> Numbers:
    """Value, low and high of the mean of one group of questions minus that of another, each resampled by itself."""
    from scipy import stats

    estimate = np.array([first.mean() - second.mean(), np.nan, np.nan])
    if min(len(first), len(second)) > 1:
        interval = stats.bootstrap(
            (first, second),
            lambda one, other, axis: one.mean(axis=axis) - other.mean(axis=axis),
            vectorized=True,
            method="percentile",
            confidence_level=confidence,
            n_resamples=n_resamples,
            rng=np.random.default_rng(seed_from("bootstrap", str(len(first)), str(len(second)))),
        ).confidence_interval
        estimate[1:] = np.round((interval.low, interval.high), 12)
    return estimate


def known(estimate: Numbers) -> dict[str, Any]:
    """The three numbers of an estimate as columns of a row: None where there is none."""
    named = zip(("value", "low", "high"), estimate, strict=True)
    return {name: None if np.isnan(number) else float(number) for name, number in named}


def bootstrap(
    statistic: Statistic, question_ids: Sequence[str], confidence: float, n_resamples: int
) -> tuple[Numbers, Numbers]:
    """Percentile bounds for each condition. The seed is made of the question ids alone, so that neither
    order nor company of the conditions changes an interval."""
    from scipy import stats  # It takes more than a second to import.

    n = len(question_ids)

    def resampled(drawn: NDArray[np.int64], axis: int = -1) -> Numbers:
        return statistic(np.apply_along_axis(np.bincount, axis, np.atleast_2d(drawn), minlength=n).astype(np.float64))

    with warnings.catch_warnings():
        # A statistic that some resamples leave undefined has no bounds; callers say so in words.
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
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
