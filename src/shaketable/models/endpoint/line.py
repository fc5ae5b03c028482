"""Requests under way at once, on an event loop of their own."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

from shaketable.types import Completion, Failure

if TYPE_CHECKING:
    from openai import AsyncOpenAI

Reply = TypeVar("Reply")


class Line:
    """The client on an event loop of its own, in a thread that ends with the process."""

    def __init__(self, client: AsyncOpenAI, concurrency: int) -> None:
        self.client = client
        self.places = asyncio.Semaphore(concurrency)
        self._loop = asyncio.new_event_loop()
        self._finished: queue.SimpleQueue[tuple[int, Future[Completion | Failure]]] = queue.SimpleQueue()
        self._n_waiting = 0
        self._underway: set[Future[Completion | Failure]] = set()
        self._counting = threading.Lock()
        threading.Thread(target=self._loop.run_forever, name="shaketable-openai", daemon=True).start()

    def start(self, work: Coroutine[Any, Any, Reply]) -> Future[Reply]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def submit(self, ticket: int, work: Coroutine[Any, Any, Completion | Failure]) -> None:
        with self._counting:
            self._n_waiting += 1
        reply, finished = self.start(work), self._finished
        self._underway.add(reply)
        reply.add_done_callback(lambda reply: finished.put((ticket, reply)))

    def collect(self) -> list[tuple[int, Completion | Failure]]:
        with self._counting:
            if not self._n_waiting:
                return []
        done = [self._finished.get()]
        with contextlib.suppress(queue.Empty):
            while True:
                done.append(self._finished.get_nowait())
        with self._counting:
            self._n_waiting -= len(done)
        self._underway.difference_update(reply for _, reply in done)
        return [(ticket, reply.result()) for ticket, reply in done]

    def forget(self) -> None:
        """Send nothing more, and take no reply to what was sent."""
        underway, self._underway = self._underway, set()
        with self._counting:
            self._n_waiting, self._finished = 0, queue.SimpleQueue()
        for reply in underway:
            reply.cancel()
