"""Questions → a function of this process and back. It cannot be ended from outside: what hangs is left behind."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from shaketable.models.calling.asking import completion_of, waiting_with
from shaketable.models.calling.lanes import Closed, HandOver
from shaketable.models.calling.outcome import read_outcome
from shaketable.models.calling.passages import NotUnderstood, in_list, in_shape, read_passages
from shaketable.models.calling.worker_thread import Reply, WorkerThread
from shaketable.models.endpoint.hiding import hide_in, own_hide
from shaketable.types import Completion, Failure, Prompt


@dataclass(frozen=True, kw_only=True, slots=True)
class Called:
    """A function as prompts are put to it."""

    takes: frozenset[str]
    refuse: Callable[[Prompt], Failure | None]
    """Why a prompt cannot be put to it; None: it can."""
    call: Callable[[Prompt, Mapping[str, object]], object]
    """A prompt, and what is given beside what the prompt has → what the function returns, or something to await."""


class FunctionCaller:
    """Calls on a thread of its own, so that the time limit holds."""

    def __init__(self, called: Called, seconds: float) -> None:
        self.called, self.seconds = called, seconds
        self._thread: WorkerThread | None = None

    def call(self, prompt: Prompt, hand_over: HandOver) -> Completion | Failure:
        if (failure := self.called.refuse(prompt)) is not None:
            return failure
        self._thread = self._thread or WorkerThread()
        started = time.perf_counter()
        waited: list[float] = []
        reply = self._thread.reply(lambda: self._answer(prompt, hand_over, waited), self.seconds, waited)
        seconds = time.perf_counter() - started - sum(waited)
        if reply is None:
            self._thread = None
            message = f"it gave no answer within {self.seconds:g} seconds and was left behind, still running"
            return _failure("timeout", message, may_retry=True)
        if isinstance(reply, Failure):
            return reply
        return completion_of(hide_in(reply, own_hide()), prompt, self.called.takes, seconds)

    def _answer(self, prompt: Prompt, hand_over: HandOver, waited: list[float]) -> Reply:
        """What the function makes of one prompt; whatever it does, a reply."""

        def disturb(passages: object) -> object:
            start = time.perf_counter()
            read = read_passages(in_list(passages), "what disturb was given")
            handed = waiting_with(hide_in(read, own_hide()), 0.0)
            left = hand_over(handed)
            places = {hit.passage.id: i for i, hit in enumerate(handed.hits)}
            waited.append(time.perf_counter() - start)  # The perturbation's time is not the pipeline's.
            return in_shape(passages, [(places.get(hit.passage.id), hit.passage.text) for hit in left.hits])

        try:
            value = self.called.call(prompt, {"disturb": disturb})
            if inspect.isawaitable(value):
                value = asyncio.get_event_loop().run_until_complete(_awaited(value))
            return read_outcome(value)
        except NotUnderstood as error:
            return _failure("bad_reply", str(error), may_retry=False)
        except SystemExit as error:
            return _failure("exited", f"it called sys.exit({error.code!r})", may_retry=True)
        except BaseException as error:  # An interrupt of the terminal reaches the main thread alone.
            return _failure("pipeline", _describe(error), may_retry=True)

    def close(self) -> None:
        if self._thread is not None:
            self._thread.end()


async def _awaited(value: object) -> object:
    return await value  # type: ignore[misc]


def _describe(error: BaseException) -> str:
    if isinstance(error, Closed):
        return "nobody waits for the answer any more"
    words = ""
    with contextlib.suppress(Exception):  # An error's own words may raise.
        words = str(error)
    lines, step = [], error.__traceback__
    while step is not None:
        lines.append(step)
        step = step.tb_next
    last = next(
        (one for one in reversed(lines) if "shaketable" not in one.tb_frame.f_globals.get("__name__", "")), None
    )
    where = f"line {last.tb_lineno}: " if last is not None else ""
    return f"{where}{type(error).__name__}: {words}" if words else f"{where}{type(error).__name__}"


def _failure(kind: str, message: str, *, may_retry: bool) -> Failure:
    return Failure(kind=kind, message=own_hide()(message)[:500], step="generate", may_retry=may_retry)
