"""How many calls may be under way at a server: as many as it gains from."""

from __future__ import annotations

from collections import deque

FIRST_SIZE = 16
GROWTH = 2.0
LEAST_GAIN = 1.2
"""So many times the replies a second, at least, that twice the calls must bring to be kept."""
N_RECENT, LATE_SHARE = 100, 0.05
"""Of so many calls, the share that is late where a server has too much to do; single ones are lost otherwise."""
HOLD_SECONDS = 30.0
"""After a size that brought nothing it is tried again so much later."""


class Window:
    """Twice as many calls are tried as long as that brings more replies a second, and given up where replies only take
    longer: they then wait at the server. Where several replies do not come in time it is halved."""

    def __init__(self, most: int, timeout_seconds: float) -> None:
        self.most = most
        self.size = min(FIRST_SIZE, most)
        self.timeout_seconds = timeout_seconds
        self._before: tuple[int, float] | None = None
        """The size that was given up for this one, and its replies a second; None: nothing is being tried."""
        self._held_until = 0.0
        self._shrunk_at = float("-inf")
        self._were_late: deque[bool] = deque(maxlen=N_RECENT)
        self._begin(0.0)

    def _begin(self, now: float) -> None:
        """The calls that are under way now were sent at another size: they are not counted."""
        self._n_replies = -self.size
        self._begun, self._seconds, self._was_full = now, 0.0, False

    def sent(self, n_underway: int) -> None:
        self._was_full = self._was_full or n_underway >= self.size

    def answered(self, now: float, seconds: float) -> None:
        self._n_replies += 1
        self._were_late.append(False)
        if self._n_replies == 0:
            self._begun, self._seconds = now, 0.0
        self._seconds += seconds
        if self._n_replies >= 2 * self.size and now > self._begun:
            self._judge(now)

    def _judge(self, now: float) -> None:
        rate, mean_seconds = self._n_replies / (now - self._begun), self._seconds / self._n_replies
        if mean_seconds > self.timeout_seconds / 2:
            self._shrink(now)
            return
        if not self._was_full:
            self._begin(now)  # Other things hold the calls back: nothing is known of this size.
            return
        if self._before is not None and rate < LEAST_GAIN * self._before[1]:
            self.size, self._held_until = self._before[0], now + HOLD_SECONDS
            self._before = None
        elif now >= self._held_until and self.size < self.most:
            self._before = self.size, rate
            self.size = min(round(GROWTH * self.size), self.most)
            if self.size < LEAST_GAIN * self._before[0]:
                self._before = None  # So few more are not tried: they are taken.
        else:
            self._before = None
        self._begin(now)

    def late(self, now: float) -> None:
        """A reply did not come in time."""
        self._were_late.append(True)
        if sum(self._were_late) >= LATE_SHARE * len(self._were_late):
            self._shrink(now)

    def _shrink(self, now: float) -> None:
        """Half as many calls, once for all that are late together."""
        if now - self._shrunk_at < self.timeout_seconds:
            return
        self._shrunk_at, self._held_until, self._before = now, now + HOLD_SECONDS, None
        self.size = max(self.size // 2, 1)
        self._begin(now)
