"""What runs in a worker: one model, which answers what the driver hands over, task after task without a pause."""

from __future__ import annotations

import contextlib
import os
import queue
import socket
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from shaketable.errors import ModelError, ShaketableError, StudyError
from shaketable.protocols import Model, WhiteBoxModel
from shaketable.stages.check import model_lacks
from shaketable.stages.cluster.machine import describe_machine
from shaketable.stages.cluster.messages import Answers, Loaded, Message, Orders, Refused, Task
from shaketable.stages.forecast.tally import Kind
from shaketable.stages.plan import Condition, Plan, crossed
from shaketable.stages.readiness import chat_methods
from shaketable.stages.scheduler import Scheduler
from shaketable.stages.sources import Planned
from shaketable.types import Json, Question, Record

SEND_EVERY_SECONDS = 0.1
"""Records that end within so little time travel together."""


class Worker:
    """Ray calls `answer` once and `hand` for each task, in threads of their own."""

    def __init__(self, orders: Orders) -> None:
        self.orders = orders
        self.tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()

    def hand(self, task: Task | None) -> None:
        """Trials to answer; None: no more come."""
        self.tasks.put(task)

    def answer(self) -> Iterator[Message]:
        """That the model is loaded; then records, as they end, until no more tasks come."""
        where = f"{socket.gethostname()}, process {os.getpid()}"
        try:
            self._settle()
            plan = self._plan()
            model = plan.conditions[0].model
            if problem := model_lacks(model, chat_methods(plan.conditions)):
                raise StudyError(f"cross.models: {problem}")
            model.environment()
            yield Loaded(where=where, machine=describe_machine() if isinstance(model, WhiteBoxModel) else {})
            yield from self._answer(plan, model)
        except ShaketableError as error:
            yield Refused(where=where, error=error)

    def _settle(self) -> None:
        """Before anything imports PyTorch, which reads these once."""
        os.environ.update(self.orders.variables)
        os.environ["OMP_NUM_THREADS"] = str(self.orders.threads)
        with contextlib.suppress(OSError):
            os.chdir(Path(self.orders.folder))

    def _plan(self) -> Plan:
        conditions = crossed(self.orders.study)
        if tuple(condition.identity for condition in conditions) != self.orders.identities:
            raise ModelError(
                f"the parts of {', '.join(self.orders.study.models)} are not those of the driver: another version of "
                "shaketable, of a prompt or of a file is installed there. Install the same on all machines."
            )
        return Plan(study=self.orders.study, questions=(), variants=(), conditions=conditions)

    def _answer(self, plan: Plan, model: Model) -> Iterator[Answers]:
        sink = _Sink()
        scheduler = Scheduler(plan, sink, lambda tick: None)
        handed = _Handed(plan, self.tasks, scheduler.questions)
        while handed.wait():
            sent = perf_counter()
            for _ in scheduler.drive(model, handed):
                if perf_counter() - sent >= SEND_EVERY_SECONDS and sink.records:
                    yield sink.sent()
                    sent = perf_counter()
            if sink.records:
                yield sink.sent()


class _Sink:
    """Keeps records until they are sent."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.environment: Mapping[str, Json] = {}

    def append(self, records: Sequence[tuple[Record, Condition]], environment: Mapping[str, Json]) -> None:
        self.records += [record for record, _ in records]
        self.environment = environment

    def sent(self) -> Answers:
        answers = Answers(records=tuple(self.records), environment=dict(self.environment))
        self.records = []
        return answers


class _Handed:
    """A source of what was handed over; it goes on with the next task while the last rows of one are written."""

    def __init__(self, plan: Plan, tasks: queue.SimpleQueue[Task | None], questions: dict[str, Question]) -> None:
        self.plan, self.tasks, self.questions = plan, tasks, questions
        self.ready: deque[Planned] = deque()
        self.is_over = False

    def wait(self) -> bool:
        """Until there is something to answer; False: no more comes."""
        while not self.ready and not self.is_over:
            self._read(self.tasks.get)
        return bool(self.ready)

    def take(self, n: int) -> list[Planned]:
        with contextlib.suppress(queue.Empty):
            while not self.is_over:
                self._read(self.tasks.get_nowait)
        return [self.ready.popleft() for _ in range(min(n, len(self.ready)))]

    def done(self, record: Record) -> None:
        pass

    def expected(self) -> Mapping[Kind, float]:
        return {}

    def _read(self, get: Callable[[], Task | None]) -> None:
        task = get()
        if task is None:
            self.is_over = True
            return
        if not self.ready:
            self.questions.clear()  # Those that are asked have theirs.
        self.questions.update({question.id: question for question in task.questions})
        plan = replace(self.plan, questions=task.questions)
        for trial, place in task.trials:
            self.ready.append((trial, plan.suited(trial.variant, self.plan.conditions[place])))
