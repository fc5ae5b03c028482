"""Calls that were refused one after another, in the order in which they were sent."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import deque

MOST_KEPT = 512
"""Times that are looked at; older ones say nothing of now."""


class Rows:
    """A call counts as taken until it is refused: replies may take minutes, and refusals come soon."""

    def __init__(self) -> None:
        self._taken: deque[float] = deque(maxlen=MOST_KEPT)
        self._refused: deque[float] = deque(maxlen=MOST_KEPT)

    def sent(self, now: float) -> None:
        self._taken.append(now)

    def refused(self, sent_at: float) -> list[float]:
        """When those were sent that were refused in a row, up to this one."""
        place = bisect_left(self._taken, sent_at)
        if place < len(self._taken) and self._taken[place] == sent_at:
            del self._taken[place]
        last_taken = self._taken[place - 1] if place else -math.inf
        while self._refused and self._refused[0] <= last_taken:
            self._refused.popleft()
        self._refused.append(sent_at)
        return [at for at in self._refused if last_taken < at <= sent_at]

    def n_taken_since(self, at: float) -> int:
        return len(self._taken) - bisect_left(self._taken, at)
