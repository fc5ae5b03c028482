"""Requests under way at once, on an event loop of their own."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any

from shaketable.errors import ModelError
from shaketable.models.endpoint.awake import take_from
from shaketable.models.endpoint.event_loop import EventLoop, Reply
from shaketable.models.endpoint.pool import Pool
from shaketable.types import Completion, Failure


class Line:
    """The servers on an event loop in a thread of its own."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._loop = EventLoop("shaketable-openai")
        self._finished: queue.SimpleQueue[tuple[int, Future[Completion | Failure]]] = queue.SimpleQueue()
        self._n_waiting = 0
        self._underway: set[Future[Completion | Failure]] = set()
        self._end: BaseException | None = None
        """Why no more replies come, to be raised when those that came are taken."""
        self._counting = threading.Lock()

    def start(self, work: Coroutine[Any, Any, Reply]) -> Future[Reply]:
        return self._loop.start(work)

    def submit(self, ticket: int, work: Coroutine[Any, Any, Completion | Failure]) -> None:
        with self._counting:
            self._n_waiting += 1
        reply, finished = self.start(work), self._finished
        self._underway.add(reply)
        reply.add_done_callback(lambda reply: finished.put((ticket, reply)))

    def collect(self) -> list[tuple[int, Completion | Failure]]:
        """Raises ModelError where the endpoint cannot be used, after the replies that came before."""
        if self._end is not None:
            end, self._end = self._end, None
            raise end
        with self._counting:
            if not self._n_waiting:
                return []
        done = [take_from(self._finished)]
        with contextlib.suppress(queue.Empty):
            while True:
                done.append(self._finished.get_nowait())
        with self._counting:
            self._n_waiting -= len(done)
        self._underway.difference_update(reply for _, reply in done)
        replies = []
        for ticket, reply in done:
            error = reply.exception()
            if error is None:
                replies.append((ticket, reply.result()))
            elif isinstance(error, ModelError):
                self._end = error
            else:
                raise error
        return replies if replies else self.collect()

    def forget(self) -> None:
        """Send nothing more, and take no reply to what was sent."""
        underway, self._underway, self._end = self._underway, set(), None
        with self._counting:
            self._n_waiting, self._finished = 0, queue.SimpleQueue()
        for reply in underway:
            reply.cancel()
