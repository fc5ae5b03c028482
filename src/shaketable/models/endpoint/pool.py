"""The servers of an endpoint, and the calls that wait for one of them."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import logging
import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from shaketable.errors import ModelError
from shaketable.models.endpoint.alive import is_alive
from shaketable.models.endpoint.failures import EndpointError
from shaketable.models.endpoint.quota import Quotas, Taken
from shaketable.models.endpoint.server import Server
from shaketable.models.endpoint.verdict import describe_end, describe_left_out, describe_waiting, silent, slower

logger = logging.getLogger(__name__)

FEW_ATTEMPTS = 3
START_SECONDS = 8.0
"""A server that never answered is given up after so many attempts in a row, or so long a time."""
STILL_ANSWERS_SECONDS = 30.0
"""So long without a reply, since the first refusal, a server that has answered counts as one that does."""
FEW_UNUSABLE, MANY_UNUSABLE = 3, 16
"""Calls in a row that may be turned away (wrong key, unknown model) before the first reply, and later."""
MOST_ALIKE = 16
"""Calls that may be refused in the same words before the first reply."""
SILENT_SECONDS, TIMES_AS_LONG = 10.0, 10.0
"""One of several servers that never answered is left out when it is silent for so long, and so many times as long as
the others take."""
HELD_SECONDS = 1.0
"""So long the first call waits for an answer to `GET /models`: a server with one thread would not give it later."""
LOOK_SECONDS = 1.0
"""From one look at such servers to the next."""


@dataclass(slots=True, eq=False)
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
    limit: asyncio.Timeout | None = None
    """Of the wait for its reply; None: it was not sent yet."""
    is_taken_back: bool = False
    """Whether another server is to answer it."""


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

    def __init__(
        self,
        servers: Sequence[Server],
        most: int,
        quotas: Quotas,
        patience_seconds: float,
        start_seconds: float,
    ) -> None:
        self.servers, self.quotas = servers, quotas
        self._most, self._patience_seconds, self._start_seconds = most, patience_seconds, start_seconds
        self._underway: set[Call] = set()
        self._greeting: asyncio.Task[None] | None = None
        self._looking: asyncio.TimerHandle | None = None
        self._waiting: list[Waiting] = []
        """A heap, the oldest call on top."""
        self._numbers = itertools.count()
        self._timer: asyncio.TimerHandle | None = None
        self._begun: float | None = None
        self._answered_at: float | None = None
        self._troubled_at: float | None = None
        """When the first call failed or was refused since one was answered; None: none was."""
        self._n_unusable = 0
        self._alike: Counter[str] = Counter()
        """What calls were refused with before the first reply, by the words."""
        self._n_ends = 0
        self._last_end = ""
        """What was said of it the last time."""
        self.left_out: dict[str, str] = {}
        """Servers that were left out while others answered, by host, and why."""

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
            if self._begun is None:
                self._begun, self._greeting = now, loop.create_task(self._greet(self._n_ends))
                for one in self.servers:
                    one.held_until = now + min(HELD_SECONDS, self._start_seconds / 2)
            server = self._choose(now, waiting.avoid)
            ready_at = max(server.ready_at(now), self.quotas.ready_at(now, waiting.n_tokens))
            if ready_at > now:
                if ready_at < math.inf:
                    self._timer = loop.call_at(ready_at, self._dispatch)
                return
            heapq.heappop(self._waiting)
            n_before = server.sent(now)
            tokens = self.quotas.take(now, waiting.n_tokens)
            call = Call(server, now, tokens, waiting.number, n_before, self._n_ends)
            self._underway.add(call)
            waiting.placed.set_result(call)
            if self._looking is None and len(self.servers) > 1:
                self._looking = loop.call_later(LOOK_SECONDS, self._look)

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
        usual_seconds = self._usual_seconds() or 1.0
        return min(
            [server for server in tried if server is not avoid] or there or self.servers,
            key=lambda server: (
                max(server.ready_at(now) - now, 0.0),
                server is avoid,
                server.load(now, usual_seconds),
            ),
        )

    def answers_others(self) -> bool:
        """Whether a call was answered, and what is refused since then is refused for a short time only."""
        now = asyncio.get_running_loop().time()
        is_fresh = self._troubled_at is None or now - self._troubled_at < STILL_ANSWERS_SECONDS
        return self._answered_at is not None and is_fresh

    def _usual_seconds(self) -> float | None:
        """Of a reply, at the servers that have answered; None: none has."""
        taken = [server.usual_seconds for server in self.servers if server.usual_seconds is not None]
        return sum(taken) / len(taken) if taken else None

    # --- servers that say nothing -------------------------------------------------------------------

    async def _greet(self, n_ends: int) -> None:
        """Before the first call each server is asked for something that it can answer at once, and beside it, where it
        does not. One that says nothing at all is not there."""
        _, *are_alive = await asyncio.gather(asyncio.sleep(self._start_seconds), *map(self._greet_one, self.servers))
        if self._n_ends > n_ends:
            return
        for server, is_there in zip(self.servers, are_alive, strict=True):
            if server.says_nothing and not is_there:
                self._leave_out(server, silent(self._start_seconds))
        thinking = [server for server in self.servers if server.says_nothing and not server.is_out]
        if self._answered_at is None and all(server.is_out for server in self.servers):
            self._end(asyncio.get_running_loop().time())
        elif self._answered_at is None and thinking:
            logger.warning(describe_waiting(thinking, self._start_seconds))
        self._dispatch()

    async def _greet_one(self, server: Server) -> bool:
        n_ends = self._n_ends
        is_there = await is_alive(server.client, self._start_seconds)
        if self._n_ends == n_ends:
            server.is_greeted, server.held_until = is_there, 0.0
            self._dispatch()
        return is_there

    def _look(self) -> None:
        """Leave out who never answered though others did, and long enough."""
        self._looking = None
        now, usual_seconds = asyncio.get_running_loop().time(), self._usual_seconds()
        if usual_seconds is not None:
            for server in self.servers:
                # One that is tried again is not waited for as long.
                least = LOOK_SECONDS if server.is_out else SILENT_SECONDS
                longest = max(least, TIMES_AS_LONG * usual_seconds)
                others_answer = any(not other.is_out for other in self.servers if other is not server)
                if others_answer and not server.has_answered and server.silent_seconds(now) > longest:
                    self._leave_out(server, slower(longest, usual_seconds))
            self._tell_left_out()
            self._dispatch()
        if self._underway and self._looking is None:
            self._looking = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)

    def _leave_out(self, server: Server, error: EndpointError) -> None:
        """Its calls go to the others."""
        server.fell_silent(asyncio.get_running_loop().time(), error)
        calls = [call for call in self._underway if call.server is server]
        for call in calls:
            call.is_taken_back = True
        self._end_waits(calls)

    def _end_waits(self, calls: Collection[Call]) -> None:
        for call in calls:
            if call.limit is not None and not call.limit.expired():
                call.limit.reschedule(asyncio.get_running_loop().time())

    def _tell_left_out(self) -> None:
        """Once of each server, when others are known to answer: else the end tells of all."""
        for server in self.servers:
            if server.is_out and server.trouble is not None and server.access.host not in self.left_out:
                self.left_out[server.access.host] = server.access.hide(server.trouble.message)
                logger.warning(describe_left_out(server))

    # --- what came of them --------------------------------------------------------------------------

    def answered(self, call: Call, seconds: float, n_tokens: float | None) -> None:
        self._underway.discard(call)
        now = asyncio.get_running_loop().time()
        self._answered_at, self._troubled_at, self._n_unusable = now, None, 0
        if n_tokens is not None:
            self.quotas.count(call.tokens, n_tokens)
        call.server.answered(now, seconds, call.n_before)
        if len(self.servers) > 1:
            self._tell_left_out()
        self._dispatch()

    def let_go(self, call: Call) -> None:
        self._underway.discard(call)
        call.server.let_go(call.n_before)
        with contextlib.suppress(RuntimeError):  # The loop is gone with the process.
            self._dispatch()

    def failed(self, call: Call, error: EndpointError) -> bool:
        """Whether the call may be asked again without counting an attempt. Raises ModelError at the end of patience."""
        now, server = asyncio.get_running_loop().time(), call.server
        if call.n_ends < self._n_ends or call.is_taken_back:
            self.let_go(call)
            self._raise_end(call)
            return True
        self._underway.discard(call)
        is_free = error.blame in ("busy", "unreachable")
        if error.blame in ("request", "refusal"):
            server.refused_request(call.n_before)
            if error.blame == "refusal" and self._answered_at is None:
                self._note_refusal(server, error, now)
        elif error.blame == "busy":
            self.quotas.correct(call.tokens, 0.0)
            server.busy(now, call.sent_at, call.n_before, error)
        elif error.blame == "unusable":
            is_free = self._turn_away(call, error, now)
        else:
            server.broke(now, call.sent_at, call.n_before, error)
        if error.blame not in ("request", "refusal"):
            self._troubled_at = now if self._troubled_at is None else self._troubled_at
            if self._is_over(now, self._troubled_at):
                raise self._end(now)
        self._dispatch()
        return is_free

    def _turn_away(self, call: Call, error: EndpointError, now: float) -> bool:
        """Whether another server may take the call."""
        if any(server is not call.server and not server.is_out for server in self.servers):
            call.server.turned_away(now, call.sent_at, call.n_before, error)
            return True
        call.server.refused_request(call.n_before)
        call.server.trouble = error
        self._n_unusable += 1
        return False

    def _note_refusal(self, server: Server, error: EndpointError, now: float) -> None:
        """As long as nothing was answered, what is refused may be all, and is worth another go. Raises ModelError when
        it is always refused in the same words."""
        error.may_retry, server.trouble = True, error
        self._alike[error.message] += 1
        if self._alike[error.message] >= MOST_ALIKE:
            raise self._end(now)

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
        self._end_waits(self._underway)
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if not one.placed.done():
                one.placed.set_exception(ModelError(self._last_end))
        self._begun, self._answered_at, self._troubled_at, self._n_unusable = None, None, None, 0
        self._alike.clear()
        for server in self.servers:
            server.begin_anew()
        return ModelError(self._last_end)
