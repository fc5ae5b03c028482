"""Questions → a pipeline's own process and back, a new one whenever the last has hung, exited or died."""

from __future__ import annotations

import time

from shaketable.errors import PartError
from shaketable.models.calling.asking import completion_of, given_by, unasked, waiting_with
from shaketable.models.calling.lanes import Closed, HandOver
from shaketable.models.calling.process import Ended, Printed, Process
from shaketable.models.calling.target import Target
from shaketable.models.endpoint.hiding import hide_in, own_hide
from shaketable.text.normalization import without_surrogates
from shaketable.types import Completion, Failure, Json, Prompt


class PythonCaller:
    def __init__(
        self, target: Target, told: tuple[str, ...] | None, seconds: float, printed: Printed, ready: list[Process]
    ) -> None:
        """`ready` are processes that are started and unused, of which it takes one."""
        self.target, self.told, self.seconds, self.printed = target, told, seconds, printed
        self._process = ready.pop() if ready else None
        self._takes: frozenset[str] | None = None
        self._is_closed = False

    def call(self, prompt: Prompt, hand_over: HandOver) -> Completion | Failure:
        try:
            return self._call(self._started(), prompt, hand_over)
        except Ended as error:
            self._process = None
            if self._is_closed:
                raise Closed from error
            return _failure(error.kind, error.message, may_retry=True)
        except PartError as error:
            self._process = None
            return _failure("pipeline", str(error), may_retry=True)
        except Closed:
            raise
        except Exception as error:  # Whatever it is, such as no file left to open: no lane falls silent.
            self._let_go()
            if self._is_closed:
                raise Closed from error
            return _failure("pipeline", f"it cannot be asked ({type(error).__name__}: {error})", may_retry=True)

    def _call(self, process: Process, prompt: Prompt, hand_over: HandOver) -> Completion | Failure:
        assert self._takes is not None
        if (failure := unasked(prompt, self._takes)) is not None:
            return failure
        started = time.perf_counter()
        hide = own_hide()
        reply = hide_in(process.ask(given_by(prompt), self.seconds), hide)
        while "disturb" in reply:
            handed = waiting_with(reply["disturb"], time.perf_counter() - started)
            left = hand_over(handed)
            started = time.perf_counter()  # The perturbation's time is not the pipeline's.
            reply = hide_in(process.ask({"passages": _placed(left, handed)}, self.seconds), hide)
        seconds = time.perf_counter() - started
        if "failure" in reply:
            return _failure(reply["failure"], reply["message"], may_retry=reply["may_retry"])
        return completion_of(reply, prompt, self._takes, seconds)

    def _started(self) -> Process:
        if self._is_closed:
            raise Closed
        if self._process is None:
            self._process = Process(self.target, self.told, self.printed)
        self._takes = self._process.wait_until_ready()
        return self._process

    def _let_go(self) -> None:
        """End a process of which nobody knows what it would say next."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()

    def close(self) -> None:
        self._is_closed = True
        if self._process is not None:
            self._process.kill()


def _placed(left: Prompt, handed: Completion) -> list[Json]:
    """The passages that are left, each with its place among those handed over; one that was brought has none."""
    places = {hit.passage.id: i for i, hit in enumerate(handed.hits)}
    return [
        {"text": hit.passage.text, "title": hit.passage.title, "place": places.get(hit.passage.id)} for hit in left.hits
    ]


def _failure(kind: str, message: str, *, may_retry: bool) -> Failure:
    return Failure(
        kind=kind, message=without_surrogates(own_hide()(message)[:500]), step="generate", may_retry=may_retry
    )
