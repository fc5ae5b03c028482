"""Workers in this process, one step at a time: what a cluster does, without a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from shaketable.stages.cluster.messages import Died, Message, Orders, Task
from shaketable.stages.cluster.worker import Worker


class CrewHere:
    """`n` workers; one that dies is replaced, as Ray would where there is room."""

    def __init__(self, orders: Orders, n: int = 2, dies: Callable[[int, int], bool] = lambda worker, n_heard: False):
        """`dies`: of a worker and the number of messages heard so far, whether it is gone now."""
        self.orders, self.dies = orders, dies
        self.workers: dict[int, tuple[Worker, Iterator[Message]]] = {}
        self.tasks: list[tuple[int, Task]] = []
        self.unanswered: dict[int, int] = {}
        self.most_unanswered = self.n_heard = self.n_started = 0
        for _ in range(n):
            self._start()

    def _start(self) -> None:
        worker = Worker(self.orders)
        self.n_started += 1
        self.workers[self.n_started] = worker, worker.answer()

    def hand(self, worker: int, task: Task) -> None:
        self.tasks.append((worker, task))
        self.unanswered[worker] = self.unanswered.get(worker, 0) + len(task.trials)
        self.most_unanswered = max(self.most_unanswered, self.unanswered[worker])
        self.workers[worker][0].hand(task)

    def listen(self, seconds: float) -> list[tuple[int, Message]]:
        """One message of each worker that has something to tell."""
        heard: list[tuple[int, Message]] = []
        for number, (_, stream) in list(self.workers.items()):
            if number in self.unanswered and not self.unanswered[number]:
                continue
            if number in self.unanswered and self.dies(number, self.n_heard):
                del self.workers[number]
                heard.append((number, Died(why="the power went")))
                self._start()
                continue
            message = next(stream)
            self.n_heard += 1
            heard.append((number, message))
            if number in self.unanswered:
                self.unanswered[number] -= len(message.records)
        return heard
