"""A thread of this process on which a pipeline's code runs, waited for no longer than its time limit."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable

from shaketable.types import Failure, Json

Reply = dict[str, Json] | Failure


class WorkerThread:
    """Does one thing after the other; a library that keeps something for each thread finds it again."""

    def __init__(self) -> None:
        self._asked: queue.SimpleQueue[Callable[[], Reply] | None] = queue.SimpleQueue()
        self._replies: queue.SimpleQueue[Reply] = queue.SimpleQueue()
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        asyncio.set_event_loop(asyncio.new_event_loop())  # One for all calls: clients are bound to theirs.
        while (ask := self._asked.get()) is not None:
            self._replies.put(ask())

    def reply(self, ask: Callable[[], Reply], seconds: float, waited: list[float]) -> Reply | None:
        """None: there was none in time, and the thread must not be used again."""
        self._asked.put(ask)
        deadline = time.monotonic() + seconds
        while (left := deadline + sum(waited) - time.monotonic()) > 0:
            with contextlib.suppress(queue.Empty):
                return self._replies.get(timeout=left)
        self.end()
        return None

    def end(self) -> None:
        self._asked.put(None)
