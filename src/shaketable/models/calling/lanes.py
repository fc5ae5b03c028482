"""Calls under way at once, each on a thread of its own; replies are taken as they finish."""

from __future__ import annotations

import contextlib
import functools
import itertools
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from shaketable.models.endpoint.awake import take_from
from shaketable.protocols import ReplyLine
from shaketable.types import Completion, Failure, Prompt

Reply = Completion | Failure
HandOver = Callable[[Completion], Prompt]
"""Gives what a pipeline found to the method, and waits for what is left of it."""


class Caller(Protocol):
    """Asks one question at a time."""

    def call(self, prompt: Prompt, hand_over: HandOver) -> Reply:
        """A reply whatever happens: an error here would leave the lane silent."""

    def close(self) -> None: ...


TICKETS = itertools.count(-1, -1)
"""Of prompts that no scheduler asks; its own go up from 0."""


def ask_all(line: ReplyLine, prompts: Sequence[Prompt]) -> list[Reply]:
    """The reply to each. Outside of a study nothing is disturbed: what is handed over goes back as it is."""
    tickets = dict(zip((next(TICKETS) for _ in prompts), prompts, strict=False))
    for ticket, prompt in tickets.items():
        line.submit(ticket, prompt)
    replies: dict[int, Reply] = {}
    while len(replies) < len(prompts):
        for ticket, reply in line.collect():
            if isinstance(reply, Completion) and reply.waits:
                line.submit(ticket, replace(tickets[ticket], hits=reply.hits))
            else:
                replies[ticket] = reply
    return [replies[ticket] for ticket in tickets]


class Closed(Exception):  # noqa: N818 (it says what is the matter)
    """Nobody waits for the answer any more."""


class Lanes:
    def __init__(self, n: int, make: Callable[[], Caller]) -> None:
        self.n, self.make = n, make
        self._callers: list[Caller] = []
        self._asked: queue.SimpleQueue[tuple[int, Prompt] | None] = queue.SimpleQueue()
        self._finished: queue.SimpleQueue[tuple[int, Reply]] = queue.SimpleQueue()
        self._waiting: dict[int, queue.SimpleQueue[Prompt | None]] = {}
        """Ticket → where the lane that handed over its passages waits for them."""
        self._n_open = 0
        self._is_closed = False

    def submit(self, ticket: int, prompt: Prompt) -> None:
        self._n_open += 1
        if (lane := self._waiting.pop(ticket, None)) is not None:
            lane.put(prompt)
            return
        self._asked.put((ticket, prompt))
        if len(self._callers) < min(self.n, self._n_open):
            self._callers.append(caller := self.make())
            threading.Thread(target=self._work, args=(caller,), daemon=True).start()

    def collect(self) -> list[tuple[int, Reply]]:
        if not self._n_open:
            return []
        done = [take_from(self._finished)]
        with contextlib.suppress(queue.Empty):
            while True:
                done.append(self._finished.get_nowait())
        self._n_open -= len(done)
        return done

    def close(self) -> None:
        """End all lanes and what they keep running; they cannot be used again."""
        self._is_closed = True
        for _ in self._callers:
            self._asked.put(None)
        for lane in self._waiting.values():
            lane.put(None)
        for caller in self._callers:
            caller.close()

    def _work(self, caller: Caller) -> None:
        with contextlib.suppress(Closed):
            while (asked := self._asked.get()) is not None and not self._is_closed:
                self._finished.put((asked[0], caller.call(asked[1], functools.partial(self._hand_over, asked[0]))))

    def _hand_over(self, ticket: int, found: Completion) -> Prompt:
        lane: queue.SimpleQueue[Prompt | None] = queue.SimpleQueue()
        self._waiting[ticket] = lane
        self._finished.put((ticket, found))
        prompt = lane.get()
        if prompt is None:
            raise Closed
        return prompt
