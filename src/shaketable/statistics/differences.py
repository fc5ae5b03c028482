"""Exact bounds of shares, and of paired differences where few differ: questions that agree are no endless evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shaketable.statistics.bounds import Flags, Numbers, Student, bound_means

FEW = 5
"""Up to so many scores that differ say little about how much another question may differ."""
ALMOST = 1e-4
"""Scores that differ by less agree."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """Losses alone, or gains alone."""

    share: Numbers
    """Of the most there can be."""
    n: Numbers
    """Questions that would say as much if each lost all or nothing: more than there are where runs were averaged."""
    scale: Numbers
    """The most a question can lose."""

    @property
    def amount(self) -> Numbers:
        return self.share * self.scale

    def at(self, tail: float | Numbers) -> tuple[Numbers, Numbers]:
        """Clopper and Pearson's exact bounds, of clustered answers as Korn and Graubard (1998) have them."""
        from scipy import special

        x = self.share * self.n
        low = special.betaincinv(x, self.n - x + 1, tail)
        high = special.betaincinv(x + 1, self.n - x, 1 - tail)
        # Outside of these the beta distribution has no mass of its own.
        return np.where(self.share <= 0, 0.0, low) * self.scale, np.where(self.share >= 1, 1.0, high) * self.scale


@dataclass(frozen=True, kw_only=True, slots=True)
class LossesAndGains:
    """Differences around a center: what is lost beyond it, less what is gained.

    The exact bounds of both are combined by their squares (Zou and Donner 2008), so that a loss that was never seen is
    still bounded by as many questions as could have lost unseen.
    """

    losses: Part
    gains: Part
    correlation: Numbers
    center: Numbers

    def at(self, tail: float | Numbers) -> tuple[Numbers, Numbers]:
        (fewest_lost, most_lost), (fewest_gained, most_gained) = self.losses.at(tail), self.gains.at(tail)
        lost, gained = self.losses.amount, self.gains.amount
        low = lost - gained - self._both(lost - fewest_lost, most_gained - gained)
        high = lost - gained + self._both(most_lost - lost, gained - fewest_gained)
        return np.maximum(low, -self.gains.scale) + self.center, np.minimum(high, self.losses.scale) + self.center

    def _both(self, lost: Numbers, gained: Numbers) -> Numbers:
        return np.sqrt(np.maximum(lost**2 + gained**2 - 2 * self.correlation * lost * gained, 0))


@dataclass(frozen=True, kw_only=True, slots=True)
class Differences:
    """Each condition bounded by what fits it."""

    exact: LossesAndGains
    student: Student
    is_exact: Flags

    def at(self, tail: float | Numbers) -> tuple[Numbers, Numbers]:
        (low, high), (t_low, t_high) = self.exact.at(tail), self.student.at(tail)
        return np.where(self.is_exact, low, t_low), np.where(self.is_exact, high, t_high)


def bound_differences(values: Numbers, is_share: bool | Flags, has_scale: bool | Flags = True) -> Differences:
    """Mean differences of shares, or of scores, which count as shares of their scale where only few of them differ.

    Counts, seconds and dollars have no scale of which an unseen question could lose the whole.
    """
    is_share = np.broadcast_to(is_share, len(values))
    center = np.where(is_share, 0.0, _median(values))
    apart = values - center[:, None]
    n, n_apart = (~np.isnan(values)).sum(axis=1), (np.abs(apart) > ALMOST).sum(axis=1)
    most = np.max(np.abs(apart), axis=1, initial=0.0, where=~np.isnan(apart))
    is_few = (n_apart <= FEW) & (2 * n_apart < n) & (most <= 1) & has_scale
    return Differences(
        exact=_losses_and_gains(apart, center, most), student=bound_means(values), is_exact=is_share | is_few
    )


def bound_shares(values: Numbers) -> Part:
    """Mean shares of questions, each bounded by Clopper and Pearson.

    Questions whose runs disagree say more than one run does. How much more follows from their spread, seen from either
    end of the scale; the smaller number of questions counts. A truth at a bound's limit lies beyond it with at most the
    chance of its tail, which a test enumerates.
    """
    is_known = ~np.isnan(values)
    n = is_known.sum(axis=1).astype(np.float64)
    n = np.where(n > 0, n, np.nan)
    right, wrong = np.where(is_known, values, 0.0), np.where(is_known, 1 - values, 0.0)
    sides = [
        _part(
            amounts, np.ones_like(n), n, np.ones_like(n), np.min(amounts, axis=1, initial=1.0, where=amounts > ALMOST)
        )
        for amounts in (right, wrong)
    ]
    return replace(sides[0], n=np.minimum(sides[0].n, sides[1].n))


def _losses_and_gains(apart: Numbers, center: Numbers, most: Numbers) -> LossesAndGains:
    """A question may lose the whole scale, or more where one did; where all lose the same another may lose nothing, but
    is not expected to gain."""
    is_known = ~np.isnan(apart)
    n = is_known.sum(axis=1).astype(np.float64)
    n = np.where(n > 1, n, np.nan)
    whole = np.where(np.abs(center) > ALMOST, np.abs(center), 1.0)
    up, down = (np.maximum(most, np.where(sign * center < -ALMOST, whole, 1.0)) for sign in (1, -1))
    sides = [
        np.where(is_known, np.maximum(sign * apart, 0), 0) / scale[:, None] for sign, scale in ((1, up), (-1, down))
    ]
    size = _shrunken(sum(side.sum(axis=1) for side in sides), sum((side**2).sum(axis=1) for side in sides), 1.0)
    smallest = np.min(sides[0] + sides[1], axis=1, initial=1.0, where=sides[0] + sides[1] > ALMOST)
    losses, gains = (_part(side, scale, n, size, smallest) for side, scale in zip(sides, (up, down), strict=True))
    variances = [(side**2).sum(axis=1) / n - part.share**2 for side, part in ((sides[0], losses), (sides[1], gains))]
    spread = np.sqrt(np.maximum(variances[0] * variances[1], 0))
    return LossesAndGains(
        losses=losses,
        gains=gains,
        correlation=np.divide(-losses.share * gains.share, spread, out=np.zeros_like(spread), where=spread > 0),
        center=center,
    )


def _part(amounts: Numbers, scale: Numbers, n: Numbers, size: Numbers, smallest: Numbers) -> Part:
    """How many questions the amounts are worth follows from their spread: losses by halves tell more than whole ones.

    A few losses do not tell how large another may be, so that the size is drawn towards the whole; and thirds come from
    three runs, which tell no more than three times as much.
    """
    share = amounts.sum(axis=1) / n
    spread = _shrunken(amounts.sum(axis=1), (amounts**2).sum(axis=1), size) - share
    worth = np.divide(1 - share, spread, out=np.ones_like(share), where=spread > 0)
    return Part(share=share, n=n * np.clip(worth, 1, 1 / smallest), scale=scale)


def _shrunken(total: Numbers, squares: Numbers, size: float | Numbers) -> Numbers:
    """The mean size of amounts, weighted by themselves, with one more amount of a given size."""
    return (squares + size) / (total + 1)


def _median(values: Numbers) -> Numbers:
    """Without what is not known; 0 where nothing is."""
    if not values.size:
        return np.zeros(len(values))
    ordered = np.sort(values, axis=1)  # NaN comes last.
    n, rows = (~np.isnan(values)).sum(axis=1), np.arange(len(values))
    middle = (ordered[rows, np.maximum(n - 1, 0) // 2] + ordered[rows, np.minimum(n // 2, np.maximum(n - 1, 0))]) / 2
    return np.where(n > 0, middle, 0.0)
