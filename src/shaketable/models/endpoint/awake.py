"""Waits of the main thread that hear a word to stop.

Polars handles SIGINT so that a wait for a lock goes on after it, and Python hears of it when the wait is over: a call
that hangs would hang the whole program. So it is woken now and then.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import queue
from typing import TypeVar

Awaited = TypeVar("Awaited")

AWAKE_SECONDS = 0.25


def wait_for(reply: concurrent.futures.Future[Awaited]) -> Awaited:
    while not concurrent.futures.wait([reply], AWAKE_SECONDS).done:
        pass
    return reply.result()


def take_from(finished: queue.SimpleQueue[Awaited]) -> Awaited:
    while True:
        with contextlib.suppress(queue.Empty):
            return finished.get(timeout=AWAKE_SECONDS)
