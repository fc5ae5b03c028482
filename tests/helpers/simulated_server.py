"""A server with a limit and the clients that ask it, on a clock of their own: seconds pass in no time."""

from __future__ import annotations

import heapq
import math
import random
from dataclasses import dataclass, field

from shaketable.models.endpoint.access import Access
from shaketable.models.endpoint.failures import EndpointError
from shaketable.models.endpoint.pace import Pace
from shaketable.models.endpoint.server import Server
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


class EachSecond(Bucket):
    """Takes so many in each second of the clock, also all of them in its first moment."""

    def accepts(self, now: float) -> bool:
        if int(now) > int(self.filled_at):
            self.tokens = self.burst
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


@dataclass(frozen=True, kw_only=True)
class Asked:
    sent_at: list[list[float]]
    """Of each call, all its times."""
    seconds: float
    """Until the last was answered, or the time was over."""
    n_answered: int

    @property
    def n_sent(self) -> int:
        return sum(len(times) for times in self.sent_at)


def drive_server(
    bucket: Bucket, n_calls: int, *, wait_seconds: float, latency_seconds: float = 0.02, most_seconds: float = math.inf
) -> Asked:
    """So many calls, the first of them first. A refused one waits as long as the server says."""
    access = Access(endpoint="http://127.0.0.1/v1", key_variable="", headers={})
    server = Server(None, access, Window(256, 60.0))  # type: ignore[arg-type]
    server.is_greeted = True
    refusal = EndpointError("rate_limit", "no", may_retry=True, blame="busy", wait=wait_seconds)
    waiting, returning, n_answered, now = list(range(n_calls)), list[tuple[float, int]](), 0, 0.0
    underway: list[tuple[float, int, int, bool]] = []
    sent_at: list[list[float]] = [[] for _ in range(n_calls)]
    while n_answered < n_calls and now < most_seconds:
        while returning and returning[0][0] <= now:
            heapq.heappush(waiting, heapq.heappop(returning)[1])
        while waiting and server.ready_at(now) <= now:
            call, is_accepted = heapq.heappop(waiting), bucket.accepts(now)
            sent_at[call].append(now)
            takes = latency_seconds * bucket.rng.uniform(0.8, 1.2) if is_accepted else REFUSAL_SECONDS
            heapq.heappush(underway, (now + takes, server.sent(now), call, is_accepted))
        ready_at = server.ready_at(now) if waiting else math.inf
        now = min([ready_at] + [times[0][0] for times in (underway, returning) if times])
        while underway and underway[0][0] <= now:
            _, n_before, call, is_accepted = heapq.heappop(underway)
            if is_accepted:
                server.answered(now, now - sent_at[call][-1], n_before)
                n_answered += 1
            else:
                server.busy(now, sent_at[call][-1], n_before, refusal)
                heapq.heappush(returning, (now + wait_seconds, call))
    return Asked(sent_at=sent_at, seconds=now, n_answered=n_answered)


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
