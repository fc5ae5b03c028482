"""One server of an endpoint: its client, how much it is given to do, and whether it answers."""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING

from shaketable.models.endpoint.access import Access
from shaketable.models.endpoint.failures import EndpointError, backoff
from shaketable.models.endpoint.pace import Pace
from shaketable.models.endpoint.window import Window

if TYPE_CHECKING:
    from openai import AsyncOpenAI

MOST_ERRORS = 5
"""In a row: the server is then left out, and tried now and then."""
FEW_ERRORS = 2
"""The same of a server that never answered."""
IN_A_ROW, ROW_SECONDS = 10, 0.5
"""Calls that were sent one after another, over so long a time, and all refused: the server takes none now. Fewer are
refused in a row by chance, or at the end of each second by a server that counts from one second to the next."""
FIRST_CALLS = 1
"""Calls under way before a server has said anything: a few more would take all threads of a slow one, which could then
not even answer `GET /models`."""
LONG_OUT = 7
"""Of a server that takes no request of ours, or says nothing: it is tried again after as long a time as one that failed
so often."""


class Server:
    """Calls that are under way at one address, and what came back of them."""

    def __init__(self, client: AsyncOpenAI, access: Access, window: Window) -> None:
        self.client, self.access = client, access
        self.window, self.pace = window, Pace()
        self._underway: dict[int, float] = {}
        """When each call was sent that is under way, the oldest first."""
        self._answered_at = -math.inf
        self.is_there = False
        """Whether it has said anything, be it that it takes no call."""
        self.is_greeted = False
        """Whether it has answered `GET /models`."""
        self.held_until = 0.0
        """When the first call is sent, though it has not answered that."""
        self.trouble: EndpointError | None = None
        """What came last in place of a reply."""
        self.n_outs = 0
        """How often in a row it was left out and tried in vain."""
        self._seconds = 0.0
        self._n_errors = 0
        self._n_sent = 0
        self._refused = [(n, -math.inf) for n in range(-IN_A_ROW, 0)]
        """A heap: of the refused calls those that were sent last, how many were sent before each, and when it was. As
        long as nothing is known, as if it had refused calls for ever."""
        self._refused_since = math.inf
        """When the first was sent of those that were refused in a row; infinity: it takes calls."""
        self._paused_until = 0.0
        self._out_at: float | None = None
        self._out_until = 0.0
        self._is_probed = False

    @property
    def is_out(self) -> bool:
        return self._out_at is not None

    @property
    def n_underway(self) -> int:
        return len(self._underway)

    @property
    def has_answered(self) -> bool:
        return self._answered_at > -math.inf

    @property
    def usual_seconds(self) -> float | None:
        """Of a reply; None: none came."""
        return self._seconds if self.has_answered else None

    @property
    def says_nothing(self) -> bool:
        """It has calls, and not even an error came back."""
        return bool(self._underway) and not self.is_there and self.trouble is None

    def silent_seconds(self, now: float) -> float:
        """How long its calls have waited since it answered one."""
        return max(now - max(next(iter(self._underway.values())), self._answered_at), 0.0) if self._underway else 0.0

    def load(self, now: float, others_seconds: float) -> float:
        """How long a call would take here, roughly: what is under way, by how fast it comes back. One that has not
        answered is as fast as the others, less the longer it is silent."""
        seconds = (self.usual_seconds or others_seconds) + self.silent_seconds(now)
        return (self.n_underway + 1) / self.window.size * seconds

    def ready_at(self, now: float) -> float:
        """When it takes the next call; infinity: when a reply has come. One that was left out gets one call."""
        if self.is_out:
            return math.inf if self._is_probed else self._out_until
        is_alive = self.is_greeted or self.is_there
        if self.n_underway >= (self.window.size if is_alive else FIRST_CALLS):
            return math.inf
        return max(self._paused_until, self.pace.ready_at(now), 0.0 if is_alive else self.held_until)

    def sent(self, now: float) -> int:
        """How many were sent before."""
        self._underway[self._n_sent] = now
        self._is_probed = self.is_out
        self.pace.sent(now)
        self.window.sent(self.n_underway)
        self._n_sent += 1
        return self._n_sent - 1

    def let_go(self, n_before: int) -> None:
        """The call is not waited for any more."""
        del self._underway[n_before]
        self._is_probed = False

    def answered(self, now: float, seconds: float, n_before: int) -> None:
        self._alive(n_before)
        if n_before > max(self._refused)[0]:
            self._paused_until = 0.0  # It took a call after the last that it refused.
        self._answered_at = now
        self._seconds += (seconds - self._seconds) * (0.1 if self._seconds else 1.0)
        self.pace.answered(now)
        self.window.answered(now, seconds)

    def refused_request(self, n_before: int) -> None:
        """It is there, and did not like the request alone."""
        self._alive(n_before)

    def busy(self, now: float, sent_at: float, n_before: int, error: EndpointError) -> None:
        """The pause that it asks for is the call's alone while it takes others, for which the pace spares it; else that
        of all. A call that is under way counts as taken, as replies may take minutes and refusals come soon."""
        self._alive(n_before)
        self.trouble = error
        self.pace.refused(now, sent_at)
        heapq.heappushpop(self._refused, (n_before, sent_at))
        n_first, first_at = self._refused[0]
        is_row = max(self._refused)[0] - n_first < IN_A_ROW
        self._refused_since = min(self._refused_since, first_at) if is_row else math.inf
        if error.wait is not None and now - self._refused_since >= ROW_SECONDS:
            self._paused_until = max(self._paused_until, now + error.wait)

    def broke(self, now: float, sent_at: float, n_before: int, error: EndpointError) -> None:
        self.let_go(n_before)
        self.trouble = error
        self._n_errors += 1
        if error.kind == "timeout":
            self.window.late(now)
        # One that answered others meanwhile is there: connections may wait for a busy machine, also for this one.
        is_gone = (error.blame == "unreachable" or error.kind == "timeout") and self._answered_at < sent_at
        if is_gone or self._n_errors >= (MOST_ERRORS if self.has_answered else FEW_ERRORS) or self.is_out:
            self._leave_out(now, sent_at)

    def fell_silent(self, now: float, error: EndpointError) -> None:
        """It is left out, and its calls are taken back."""
        self.trouble = error
        self.n_outs = max(self.n_outs, LONG_OUT)
        self._leave_out(now, now)

    def turned_away(self, now: float, sent_at: float, n_before: int, error: EndpointError) -> None:
        """It takes no request of ours, and others do."""
        self.let_go(n_before)
        self.trouble = error
        self.n_outs = max(self.n_outs, LONG_OUT)
        self._leave_out(now, sent_at)

    def begin_anew(self) -> None:
        """Forget what it did: who asks again has mended something."""
        self._mend()
        self.is_there, self.trouble, self._answered_at = False, None, -math.inf
        self.is_greeted = False

    def _alive(self, n_before: int) -> None:
        self.let_go(n_before)
        self._mend()
        self.is_there = True

    def _mend(self) -> None:
        self.n_outs, self._n_errors, self._out_at = 0, 0, None

    def _leave_out(self, now: float, sent_at: float) -> None:
        if self._out_at is not None and sent_at < self._out_at:
            return  # It was sent together with one that failed before.
        self.n_outs += 1
        self._out_at, self._out_until = now, now + backoff(self.n_outs)
