"""Counts that ended and counts under way → how far the others will go.

Long replies, and trials of many calls, finish last: whoever is under way counts for as far as it has come, as in
survival analysis (Kaplan and Meier 1958).
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

UNSEEN = 0.25
"""Of a count that was not seen and ends beyond all: few that ended do not tell that none goes further."""


class Survival:
    """How far a count goes that has come so far. Beyond the longest that was seen, all that are left go on to the
    limit."""

    def __init__(self, ends: Mapping[int, int], underway: Sequence[int], limit: int) -> None:
        self.places, waiting = sorted(ends), sorted(underway)
        self.limit = max([limit, *self.places[-1:], *waiting[-1:]])
        self.shares = _shares(self.places, ends, waiting, 0.0)
        """Of all that go beyond each place."""

    def mean(self) -> float:
        """Of one that is not begun."""
        beyond_nothing = self.shares[0] if self.places[:1] == [0] else 1.0
        return self.rest(0) * beyond_nothing

    def rest(self, reached: int) -> float:
        """How much is still to come, on average, of one that goes beyond `reached`."""
        at = bisect.bisect_right(self.places, reached)
        share = self.shares[at - 1] if at else 1.0
        if share <= 0:
            return 0.0
        widths = [b - a for a, b in pairwise([reached, *self.places[at:], max(self.limit, reached)])]
        return sum(width * height for width, height in zip(widths, [share, *self.shares[at:]], strict=True)) / share


class Endings:
    """Where counts end, to be drawn from. Beyond what was seen each further one has the same chance to be the last."""

    def __init__(
        self,
        ends: Mapping[int, float],
        underway: Sequence[int],
        limit: int,
        shift: float,
        *,
        tail: float,
        unseen: float,
    ) -> None:
        """`tail`: the chance beyond what was seen. `shift`: in standard errors of the rate of ending, how much further
        counts go than it looks; below 0, how much less far."""
        self.places = sorted(ends)
        self.limit = max([limit, *self.places[-1:]])
        n_ended, exponents = 0.0, []
        for place in self.places:
            n_ended += ends[place]
            exponents.append(math.exp(-shift / math.sqrt(n_ended + 0.5)))
        shares = _shares(self.places, ends, sorted(underway), unseen)
        self.shares = [share**exponent for share, exponent in zip(shares, exponents, strict=True)]
        # Bounds need not fall steadily; what goes beyond a place is at most what goes beyond the one before.
        for i in range(1, len(self.shares)):
            self.shares[i] = min(self.shares[i], self.shares[i - 1])
        self.falling = [-share for share in self.shares]
        tail *= math.exp(-shift / math.sqrt(n_ended + 1.0))
        self.tail = min(max(tail, 1e-6), 0.99)

    def drawn(self, reached: int, chance: float) -> int:
        """Where a count ends that goes beyond `reached`, by a number between 0 and 1."""
        at = bisect.bisect_right(self.places, reached)
        aim = chance * (self.shares[at - 1] if at else 1.0)
        place = bisect.bisect_left(self.falling, -aim, lo=at)
        if place < len(self.places):
            return self.places[place]
        beyond = max(reached, self.places[-1] if self.places else 0)
        share = self.shares[-1] if self.shares else 1.0
        further = math.log(max(aim, 1e-12) / share) / math.log1p(-self.tail)
        return max(min(beyond + 1 + int(further), self.limit), reached + 1)


def _shares(places: Sequence[int], ends: Mapping[int, float], waiting: Sequence[int], unseen: float) -> list[float]:
    shares, share, n_longer = [], 1.0, sum(ends.values()) + unseen
    for place in places:
        n_there = n_longer + len(waiting) - bisect.bisect_left(waiting, place)
        share *= 1 - ends[place] / n_there
        n_longer -= ends[place]
        shares.append(share)
    return shares


def length_tail(ends: Mapping[int, int], underway: Sequence[int], usual: float) -> float:
    """The chance that a token is the last of its reply: as of those so far, and of a reply of the `usual` length."""
    exposure = sum(length * n for length, n in ends.items()) + sum(underway)
    return (sum(ends.values()) + 1) / (exposure + usual)
