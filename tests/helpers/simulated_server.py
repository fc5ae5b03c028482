"""A server with a limit and the clients that ask it, on a clock of their own: seconds pass in no time."""

from __future__ import annotations

import heapq
import math
import random
from dataclasses import dataclass, field

from shaketable.models.endpoint.pace import Pace
from shaketable.models.endpoint.window import Window

REFUSAL_SECONDS = 0.003


@dataclass(kw_only=True)
class Bucket:
    """Lets requests through by a token bucket, and refuses a share of them by chance whatever the load."""

    per_second: float
    burst: float
    refused_share: float = 0.0
    rng: random.Random
    filled_at: float = 0.0
    tokens: float = field(init=False)

    def __post_init__(self) -> None:
        self.tokens = self.burst

    def accepts(self, now: float) -> bool:
        self.tokens = min(self.burst, self.tokens + (now - self.filled_at) * self.per_second)
        self.filled_at = now
        if self.rng.random() < self.refused_share or self.tokens < 1:
            return False
        self.tokens -= 1
        return True


@dataclass(frozen=True, kw_only=True)
class Paced:
    accepted_at: list[float]
    n_sent: int
    rate: float | None


def drive_pace(
    bucket: Bucket,
    seconds: float,
    *,
    n_at_once: int = 64,
    latency_seconds: float = 0.02,
    raised_at: float = math.inf,
    raised_to: float = 0.0,
) -> Paced:
    """Calls without end, each sent as soon as the pace allows it and one of so many places is free."""
    pace, now, n_underway, n_sent = Pace(), 0.0, 0, 0
    underway: list[tuple[float, int, bool, float]] = []
    accepted_at = []
    while now < seconds:
        if now >= raised_at:
            bucket.per_second = raised_to
        while n_underway < n_at_once and pace.ready_at(now) <= now:
            pace.sent(now)
            n_underway, n_sent = n_underway + 1, n_sent + 1
            is_accepted = bucket.accepts(now)
            takes = latency_seconds * bucket.rng.uniform(0.8, 1.2) if is_accepted else REFUSAL_SECONDS
            heapq.heappush(underway, (now + takes, n_sent, is_accepted, now))
        ready_at = pace.ready_at(now) if n_underway < n_at_once else math.inf
        if not underway or underway[0][0] > ready_at:
            now = max(ready_at, now + 1e-6)
            continue
        now, _, is_accepted, sent_at = heapq.heappop(underway)
        n_underway -= 1
        if is_accepted:
            pace.answered(now)
            accepted_at.append(now)
        else:
            pace.refused(now, sent_at)
    return Paced(accepted_at=accepted_at, n_sent=n_sent, rate=pace.rate)


def drive_window(window: Window, seconds: float, *, latency_seconds: float, n_slots: int, seed: int = 0) -> list[int]:
    """The window's size at the end of each second, at a server that works on so many calls at once."""
    rng = random.Random(seed)
    now, n_underway, sizes = 0.0, 0, []
    free = [0.0] * n_slots
    underway: list[tuple[float, float]] = []
    while now < seconds:
        while n_underway < window.size:
            n_underway += 1
            window.sent(n_underway)
            begun = max(heapq.heappop(free), now)
            done = begun + latency_seconds * rng.uniform(0.5, 1.5)
            heapq.heappush(free, done)
            heapq.heappush(underway, (done, now))
        done, sent = heapq.heappop(underway)
        sizes += [window.size] * (int(done) - int(now))
        now, n_underway = done, n_underway - 1
        window.answered(now, now - sent)
    return sizes
