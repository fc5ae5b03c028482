"""The servers of an endpoint, and the calls that wait for one of them."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from shaketable.errors import ModelError
from shaketable.models.endpoint.failures import EndpointError
from shaketable.models.endpoint.quota import Quotas, Taken
from shaketable.models.endpoint.server import Server
from shaketable.models.endpoint.verdict import describe_end

FEW_ATTEMPTS = 3
START_SECONDS = 8.0
"""A server that never answered is given up after so many attempts in a row, or so long a time."""
STILL_ANSWERS_SECONDS = 30.0
"""So long without a reply, since the first refusal, a server that has answered counts as one that does."""
FEW_UNUSABLE, MANY_UNUSABLE = 3, 16
"""Calls in a row that may be turned away (wrong key, unknown model) before the first reply, and later."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that is under way."""

    server: Server
    sent_at: float
    tokens: Taken
    number: int
    """In the order in which calls were asked for; one that is sent again keeps its own."""
    n_before: int
    """Calls that were sent to this server before."""
    n_ends: int
    """How often the endpoint was given up before it was sent."""


@dataclass(slots=True, order=True)
class Waiting:
    """A call that waits for a server; those are in order of their numbers."""

    number: int
    n_tokens: float = field(compare=False)
    avoid: Server | None = field(compare=False)
    """The server that failed it before: another one is better."""
    placed: asyncio.Future[Call] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future(), compare=False
    )


class Pool:
    """Gives each call to the server that would answer it soonest, in order, within all limits.

    An endpoint that cannot be used ends the calls that wait with one ModelError instead of failing them one by one.
    """

    def __init__(self, servers: Sequence[Server], most: int, quotas: Quotas, patience_seconds: float) -> None:
        self.servers, self.quotas = servers, quotas
        self._most, self._patience_seconds = most, patience_seconds
        self._waiting: list[Waiting] = []
        """A heap, the oldest call on top."""
        self._numbers = itertools.count()
        self._timer: asyncio.TimerHandle | None = None
        self._begun: float | None = None
        self._answered_at: float | None = None
        self._troubled_at: float | None = None
        """When the first call failed or was refused since one was answered; None: none was."""
        self._n_unusable = 0
        self._n_ends = 0
        self._last_end = ""
        """What was said of it the last time."""

    # --- giving calls to servers ------------------------------------------------------------------

    async def place(self, n_tokens: float = 0.0, after: Call | None = None) -> Call:
        """Wait for a server. The oldest call goes first, and one that was sent before to another server where there is
        one."""
        self._drop_cancelled()
        if after is not None:
            self._raise_end(after)
        elif not self._waiting and not any(server.n_underway for server in self.servers):
            self._troubled_at = None  # Nobody asked for a while: what was then says nothing of now.
        if after is None:
            waiting = Waiting(next(self._numbers), n_tokens, None)
        else:
            waiting = Waiting(after.number, n_tokens, after.server)
        heapq.heappush(self._waiting, waiting)
        self._dispatch()
        try:
            return await waiting.placed
        except asyncio.CancelledError:
            if waiting.placed.done() and not waiting.placed.cancelled() and not waiting.placed.exception():
                self.let_go(waiting.placed.result())
            raise

    def _dispatch(self) -> None:
        loop = asyncio.get_running_loop()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._drop_cancelled() and sum(server.n_underway for server in self.servers) < self._most:
            now, waiting = loop.time(), self._waiting[0]
            server = self._choose(now, waiting.avoid)
            ready_at = max(server.ready_at(now), self.quotas.ready_at(now, waiting.n_tokens))
            if ready_at > now:
                if ready_at < math.inf:
                    self._timer = loop.call_at(ready_at, self._dispatch)
                return
            heapq.heappop(self._waiting)
            n_before = server.sent(now)
            self._begun = now if self._begun is None else self._begun
            tokens = self.quotas.take(now, waiting.n_tokens)
            waiting.placed.set_result(Call(server, now, tokens, waiting.number, n_before, self._n_ends))

    def _drop_cancelled(self) -> bool:
        """Whether calls wait still, when those are gone that nobody waits for any more."""
        while self._waiting and self._waiting[0].placed.done():
            heapq.heappop(self._waiting)
        return bool(self._waiting)

    def _choose(self, now: float, avoid: Server | None) -> Server:
        """The least loaded of those that are ready, else the one that is ready first."""
        if len(self.servers) == 1:
            return self.servers[0]
        there = [server for server in self.servers if not server.is_out]
        # One that was left out is tried with a call when its time has come, whatever the others do.
        tried = [server for server in self.servers if server not in there and server.ready_at(now) <= now]
        return min(
            [server for server in tried if server is not avoid] or there or self.servers,
            key=lambda server: (max(server.ready_at(now) - now, 0.0), server is avoid, server.load),
        )

    def answers_others(self) -> bool:
        """Whether a call was answered, and what is refused since then is refused for a short time only."""
        now = asyncio.get_running_loop().time()
        is_fresh = self._troubled_at is None or now - self._troubled_at < STILL_ANSWERS_SECONDS
        return self._answered_at is not None and is_fresh

    # --- what came of them --------------------------------------------------------------------------

    def answered(self, call: Call, seconds: float, n_tokens: float | None) -> None:
        now = asyncio.get_running_loop().time()
        self._answered_at, self._troubled_at, self._n_unusable = now, None, 0
        if n_tokens is not None:
            self.quotas.count(call.tokens, n_tokens)
        call.server.answered(now, seconds, call.n_before)
        self._dispatch()

    def let_go(self, call: Call) -> None:
        call.server.let_go()
        with contextlib.suppress(RuntimeError):  # The loop is gone with the process.
            self._dispatch()

    def failed(self, call: Call, error: EndpointError) -> bool:
        """Whether the call may be asked again without counting an attempt. Raises ModelError at the end of patience."""
        now, server = asyncio.get_running_loop().time(), call.server
        if call.n_ends < self._n_ends:
            server.let_go()
            self._raise_end(call)
        is_free = error.blame in ("busy", "unreachable")
        if error.blame == "request":
            server.refused_request()
        elif error.blame == "busy":
            self.quotas.correct(call.tokens, 0.0)
            server.busy(now, call.sent_at, call.n_before, error)
        elif error.blame == "unusable":
            is_free = self._turn_away(call, error, now)
        else:
            server.broke(now, call.sent_at, error)
        if error.blame != "request":
            self._troubled_at = now if self._troubled_at is None else self._troubled_at
            if self._is_over(now, self._troubled_at):
                raise self._end(now)
        self._dispatch()
        return is_free

    def _turn_away(self, call: Call, error: EndpointError, now: float) -> bool:
        """Whether another server may take the call."""
        if any(server is not call.server and not server.is_out for server in self.servers):
            call.server.turned_away(now, call.sent_at, error)
            return True
        call.server.refused_request()
        call.server.trouble = error
        self._n_unusable += 1
        return False

    def _is_over(self, now: float, troubled_at: float) -> bool:
        assert self._begun is not None, "A call came back, so one was sent."
        if self._n_unusable >= (FEW_UNUSABLE if self._answered_at is None else MANY_UNUSABLE):
            return True
        if now - troubled_at >= self._patience_seconds:
            return True
        is_late = now - self._begun >= START_SECONDS
        return self._answered_at is None and all(
            server.is_out and (is_late or server.n_outs >= FEW_ATTEMPTS) for server in self.servers
        )

    def _raise_end(self, call: Call) -> None:
        """Whatever was under way when the endpoint was given up ends with it."""
        if call.n_ends < self._n_ends:
            raise ModelError(self._last_end)

    def _end(self, now: float) -> ModelError:
        """Those that wait are told, and whoever asks later begins anew."""
        assert self._begun is not None, "A call came back, so one was sent."
        seconds = now - (self._begun if self._answered_at is None else self._answered_at)
        self._n_ends += 1
        self._last_end = describe_end(self.servers, seconds, has_answered=self._answered_at is not None)
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if not one.placed.done():
                one.placed.set_exception(ModelError(self._last_end))
        self._begun, self._answered_at, self._troubled_at, self._n_unusable = None, None, None, 0
        for server in self.servers:
            server.begin_anew()
        return ModelError(self._last_end)
