"""The workers of a model as actors of Ray, each with its CPUs and GPUs declared."""

from __future__ import annotations

import contextlib
import logging
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from shaketable import catalog
from shaketable.engine.local import LocalModel
from shaketable.errors import ClusterError
from shaketable.protocols import Model, WhiteBoxModel
from shaketable.stages.cluster.connect import OWN, connected
from shaketable.stages.cluster.executor import Ray
from shaketable.stages.cluster.machine import carried_variables
from shaketable.stages.cluster.messages import Died, Message, Orders, Task
from shaketable.stages.cluster.worker import Worker
from shaketable.stages.plan import Condition
from shaketable.study import hold_prompts
from shaketable.types import Study

LOOK_EVERY_SECONDS = 2.0
"""For nodes that joined or left."""
PATIENCE_SECONDS = 60.0
"""Without a node that has room for a worker."""
QUIET_SECONDS = 10.0
"""That workers wait for room before it is told."""
TOLD_EVERY_SECONDS = 60.0
"""Then."""
MOST_LETTERS = 240
"""Of what Ray says."""
UNREAD_MESSAGES = 8
"""Of a worker; then it waits until the driver has stored some."""

logger = logging.getLogger(__name__)


class Size(NamedTuple):
    """What a worker declares."""

    cpus: int
    gpus: float

    def n_fitting(self, resources: Mapping[str, float]) -> int:
        n = int(resources.get("CPU", 0.0) / self.cpus)
        return min(n, int(resources.get("GPU", 0.0) / self.gpus)) if self.gpus else n

    def __str__(self) -> str:
        return f"{self.cpus} CPU{'s' * (self.cpus > 1)}" + (f" and {self.gpus:g} GPU" if self.gpus else "")


@contextlib.contextmanager
def hired(executor: Ray, study: Study, conditions: Sequence[Condition]) -> Iterator[RayCrew]:
    """Workers for the model of these conditions; they are dismissed at the end, however it comes."""
    model = conditions[0].model
    [text] = [text for text in study.models if _spelled(text) == catalog.spelled(model)]
    with connected(executor.address) as ray:
        size = _size(executor, model, _nodes(ray))
        orders = Orders(
            study=hold_prompts(replace(study, models=(text,))),
            identities=tuple(condition.identity for condition in conditions),
            threads=size.cpus,
            folder=str(Path.cwd()),
            variables=carried_variables(),
        )
        crew = RayCrew(ray, orders, size, executor.workers)
        try:
            crew.begin()
            yield crew
        finally:
            crew.dismiss()


def _spelled(text: str) -> str:
    return catalog.spelled(catalog.build("model", text))


def _size(executor: Ray, model: Model, nodes: Sequence[Mapping[str, float]]) -> Size:
    """As asked for. Else a GPU for a model that wants one, and as many CPUs as a run in this process has threads, since
    a last digit may depend on their number; no more than the largest node has."""
    is_on_gpu = isinstance(model, LocalModel) and model.device.startswith("cuda")
    gpus = float(is_on_gpu) if executor.worker_gpus is None else executor.worker_gpus
    if executor.worker_cpus is not None:
        return Size(executor.worker_cpus, gpus)
    if gpus or not isinstance(model, WhiteBoxModel):
        return Size(1, gpus)
    import torch

    largest = max((int(node.get("CPU", 0.0)) for node in nodes), default=0)
    return Size(max(min(torch.get_num_threads(), largest), 1), gpus)


def _nodes(ray: Any) -> list[Mapping[str, float]]:
    """What each node that is up has."""
    return [node["Resources"] for node in ray.nodes() if node["Alive"]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Hand:
    """A worker's actor, and the stream of what it tells."""

    actor: Any
    stream: Any
    placed: Any
    """Ready when a node has room for it."""


class RayCrew:
    def __init__(self, ray: Any, orders: Orders, size: Size, n_wanted: int | None) -> None:
        """`n_wanted` of None: as many as fit."""
        self.ray, self.orders, self.size, self.n_wanted = ray, orders, size, n_wanted
        self.hands: dict[int, Hand] = {}
        self.n_started = 0
        self.looked_at = self.fitted_at = self.tell_at = 0.0

    def begin(self) -> None:
        nodes = _nodes(self.ray)
        n_fitting = sum(map(self.size.n_fitting, nodes))
        is_own = self.ray.get_runtime_context().namespace == OWN
        if not n_fitting and (self.n_wanted is None or is_own):
            way_out = "start a cluster that other machines can join" if is_own else "give --workers to wait for nodes"
            raise ClusterError(
                f"No node of the cluster has room for a worker of {self.size}: the largest has "
                f"{_most(nodes, 'CPU')} CPUs and {_most(nodes, 'GPU')} GPUs. Ask for less with --worker-cpus and "
                f"--worker-gpus, or {way_out}."
            )
        logger.info("the cluster has %d nodes, with room for %d workers of %s", len(nodes), n_fitting, self.size)
        self.fitted_at = time.monotonic()
        self.tell_at = self.fitted_at + QUIET_SECONDS
        self._start_missing()

    def hand(self, worker: int, task: Task) -> None:
        self.hands[worker].actor.hand.remote(task)

    def listen(self, seconds: float) -> list[tuple[int, Message]]:
        if time.monotonic() - self.looked_at >= LOOK_EVERY_SECONDS:
            self._start_missing()
            self._tell_waiting()
        streams = {hand.stream: worker for worker, hand in self.hands.items()}
        if not streams:
            time.sleep(seconds)
            return []
        ready, _ = self.ray.wait(list(streams), num_returns=1, timeout=seconds)
        if ready and len(streams) > 1:
            ready, _ = self.ray.wait(list(streams), num_returns=len(streams), timeout=0)
        return [(streams[stream], self._read(streams[stream], stream)) for stream in ready]

    def dismiss(self) -> None:
        for hand in self.hands.values():
            with contextlib.suppress(Exception):  # It may be gone, and so may the cluster.
                self.ray.kill(hand.actor)
        self.hands = {}

    def _read(self, worker: int, stream: Any) -> Message:
        errors = self.ray.exceptions
        try:
            message: Message = self.ray.get(next(stream))
            return message
        except errors.RayTaskError as error:
            raise ClusterError(
                f"A worker of the cluster ended with {type(error.cause).__name__}: {error.cause}. What was answered is "
                "kept, and running again goes on from there."
            ) from error
        except (errors.RayError, StopIteration) as error:
            actor = self.hands.pop(worker).actor
            with contextlib.suppress(Exception):  # Where its network is gone and not itself, it need not go on.
                self.ray.kill(actor)
            return Died(why=_why(error))

    def _start_missing(self) -> None:
        """Workers for all the room there is, or as many as are wanted."""
        self.looked_at = time.monotonic()
        n_fitting = sum(map(self.size.n_fitting, _nodes(self.ray)))
        if n_fitting:
            self.fitted_at = self.looked_at
        elif self.looked_at - self.fitted_at > PATIENCE_SECONDS and self.n_wanted is None:
            raise ClusterError(
                f"No node of the cluster has had room for a worker of {self.size} for {PATIENCE_SECONDS:.0f} seconds. "
                "What was answered is kept; run again when its nodes are back."
            )
        actors = self.ray.remote(Worker).options(
            num_cpus=self.size.cpus,
            num_gpus=self.size.gpus,
            max_restarts=0,
            max_concurrency=2,
            scheduling_strategy="SPREAD",
        )
        while len(self.hands) < (n_fitting if self.n_wanted is None else self.n_wanted):
            self.n_started += 1
            actor = actors.remote(self.orders)
            stream = actor.answer.options(
                num_returns="streaming", _generator_backpressure_num_objects=UNREAD_MESSAGES
            ).remote()
            placed = actor.__ray_ready__.remote()
            self.hands[self.n_started] = Hand(actor=actor, stream=stream, placed=placed)

    def _tell_waiting(self) -> None:
        """Why nothing happens, where no node has room: others use it, or it is not there yet."""
        if self.looked_at < self.tell_at:
            return
        placed, _ = self.ray.wait([hand.placed for hand in self.hands.values()], timeout=0) if self.hands else ([], [])
        if placed:
            self.tell_at = self.looked_at + QUIET_SECONDS
            return
        there, free = self.ray.cluster_resources(), self.ray.available_resources()
        logger.info(
            "waiting for a node with room for a worker of %s: the cluster has %s CPUs and %s GPUs, of which %s and %s "
            "are free",
            self.size,
            *(f"{resources.get(kind, 0.0):g}" for resources in (there, free) for kind in ("CPU", "GPU")),
        )
        self.tell_at = self.looked_at + TOLD_EVERY_SECONDS


def _most(nodes: Sequence[Mapping[str, float]], resource: str) -> str:
    return f"{max((node.get(resource, 0.0) for node in nodes), default=0.0):g}"


def _why(error: BaseException) -> str:
    """What Ray says of it, without its own bookkeeping."""
    lines = [line.strip() for line in re.sub(r"Node Id: \w+", "", str(error)).splitlines()]
    told = [line for line in lines if line and not re.match(r"\w+: |The actor died unexpectedly before", line)]
    return " ".join(told)[:MOST_LETTERS].rstrip(". ") or type(error).__name__
