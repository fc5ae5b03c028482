"""Trials → records on the workers of a cluster; the driver keeps source, meter, store and progress as they are."""

from __future__ import annotations

import contextlib
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Protocol

from shaketable.errors import ClusterError
from shaketable.protocols import KeptLine, Model, WhiteBoxModel
from shaketable.stages.cluster.connect import connected
from shaketable.stages.cluster.executor import Ray
from shaketable.stages.cluster.groups import Groups
from shaketable.stages.cluster.machine import describe_machine, note_differences
from shaketable.stages.cluster.messages import Answers, Died, Loaded, Message, Refused, Task
from shaketable.stages.cluster.ray_crew import hired
from shaketable.stages.cluster.replies import count_shared, note_replies
from shaketable.stages.cluster.travel import is_asked_here
from shaketable.stages.forecast.tally import Tally, Underway
from shaketable.stages.forecast.time_left import TimeLeft
from shaketable.stages.kept_steps import KeptSteps
from shaketable.stages.meter import Meter, Stop, System
from shaketable.stages.plan import Condition, Plan
from shaketable.stages.scheduler import FORECAST_EVERY_SECONDS, Progress, Scheduler, Sink
from shaketable.stages.sources import Planned, Source
from shaketable.types import Json

MOST_UNDER_WAY = 256
"""Trials that a worker has at once, about: two batches of the embedded model, so that its rows never wait for more."""
LEAST_UNDER_WAY = 64
"""As many near the end too, if there are as many: half a batch writes nearly as fast as a whole one."""
HANDED_AT_ONCE = 64
"""Trials of one task, about; fewer where little is left, so that all workers end together."""
MOST_DEATHS = 5
"""Of workers that had the same trial under way; or of each worker, one after the other without a record between."""
LISTEN_SECONDS = 0.5

logger = logging.getLogger(__name__)


class Crew(Protocol):
    """The workers of one model, by number."""

    def hand(self, worker: int, task: Task) -> None: ...

    def listen(self, seconds: float) -> Sequence[tuple[int, Message]]:
        """What they told, waiting at most so long; starts workers where there is room."""


@contextlib.contextmanager
def one_cluster(executor: Ray | None, models: Iterable[Model]) -> Iterator[None]:
    """The cluster is there as long as any of the models may be asked on it: starting one takes seconds."""
    if executor is None or all(map(is_asked_here, models)):
        yield
        return
    with connected(executor.address):
        yield


@dataclass(slots=True)
class Station:
    """A worker as the driver sees it."""

    note: str
    """Where its machine differs; empty: it does not."""
    under_way: dict[str, tuple[Planned, Tally]] = field(default_factory=dict)
    """By key."""


class SpreadScheduler(Scheduler):
    """Models that travel are asked on the cluster, the others in this process."""

    def __init__(
        self,
        plan: Plan,
        store: Sink,
        progress: Progress,
        left: TimeLeft,
        meter: Meter,
        kept: KeptSteps | None = None,
        *,
        executor: Ray,
    ) -> None:
        super().__init__(plan, store, progress, left, meter, kept)
        self.plan, self.executor = plan, executor
        self.asked = ""
        """The model whose turn it is, by its label."""
        self.stations: dict[int, Station] = {}
        self.most_stations = 1
        self.n_deaths: Counter[str] = Counter()
        """Of workers that had a trial under way, by its key."""
        self.n_deaths_in_a_row = 0

    def run(self, model: Model, source: Source, line: KeptLine | None = None) -> Stop | None:
        if is_asked_here(model):
            return super().run(model, source, line)
        groups = Groups(source)
        if not groups.has_more():
            return None
        own = next(own for other, own in self.plan.by_model() if other is model)
        with hired(self.executor, self.plan.study, own) as crew:
            return self.spread(own, groups, crew)

    def spread(self, conditions: Sequence[Condition], groups: Groups, crew: Crew) -> Stop | None:
        """Hand out, listen, store, until all is answered or the time is up."""
        model, self.source, self.teller = conditions[0].model, groups.source, None
        self.asked = str(conditions[0].labels["model"])
        self.meter.begin(model)
        machine = describe_machine() if isinstance(model, WhiteBoxModel) else {}
        places = {condition.identity: place for place, condition in enumerate(conditions)}
        try:
            while True:
                is_all_handed = self._hand_out(groups, places, crew)
                if is_all_handed and not any(station.under_way for station in self.stations.values()):
                    self.left.end()
                    return None
                if self.meter.is_late():
                    return self._stop(model)
                for worker, message in crew.listen(LISTEN_SECONDS):
                    self._hear(worker, message, groups, machine)
                if perf_counter() - self.told_at >= FORECAST_EVERY_SECONDS:
                    self._tell_now(is_last=False)
        finally:
            self.stations, self.n_deaths_in_a_row = {}, 0

    # --- out ----------------------------------------------------------------------------------

    def _hand_out(self, groups: Groups, places: dict[str, int], crew: Crew) -> bool:
        """Give each worker enough to do, the idlest first; True: the source has no more, for now at least."""
        while self.stations:
            worker, station = min(self.stations.items(), key=lambda item: len(item[1].under_way))
            share = self._n_open() / (2 * len(self.stations))
            n_missing = int(min(max(share, LEAST_UNDER_WAY), MOST_UNDER_WAY)) - len(station.under_way)
            if n_missing <= 0:
                return False
            trials = groups.take(max(int(min(n_missing, HANDED_AT_ONCE, share)), 1))
            if not trials:
                return True
            for trial, condition in trials:
                station.under_way[trial.key] = (trial, condition), self.left.start(trial)
            questions = {trial.question_id: self.questions[trial.question_id] for trial, _ in trials}
            placed = tuple((trial, _place(condition, places)) for trial, condition in trials)
            crew.hand(worker, Task(trials=placed, questions=tuple(questions.values())))
        return False

    def _n_open(self) -> float:
        """Trials of the model that are not answered, as far as is known."""
        n_unstarted = sum(tally.n_unstarted for kind, tally in self.left.tallies.items() if kind.model == self.asked)
        return n_unstarted + sum(len(station.under_way) for station in self.stations.values())

    # --- back ---------------------------------------------------------------------------------

    def _hear(self, worker: int, message: Message, groups: Groups, machine: Mapping[str, Json]) -> None:
        match message:
            case Loaded():
                self.left.begin()
                self.stations[worker] = Station(note_differences(machine, message.machine))
                self.most_stations = max(self.most_stations, len(self.stations))
                logger.info("worker %d is ready (%s)", worker, message.where)
            case Answers():
                self._take_answers(self.stations[worker], message)
            case Refused():
                raise type(message.error)(f"A worker of the cluster ({message.where}): {message.error}")
            case Died():
                self._mourn(worker, message, groups)

    def _take_answers(self, station: Station, answers: Answers) -> None:
        n_sharing = count_shared(answers.records)
        for record in answers.records:
            (trial, condition), tally = station.under_way.pop(record.trial.key)
            note_replies(tally, record, condition, n_sharing)
            self.meter.n_calls += record.cost.n_generations
            self.meter.dollars += record.cost.dollars or 0.0
            self._count(replace(record, trial=trial), condition)
        note = {"note": station.note} if station.note else {}
        self.store.append(self.finished, {**answers.environment, **note})
        self.finished, self.n_deaths_in_a_row = [], 0
        self._tell_now(is_last=not any(other.under_way for other in self.stations.values()))

    def _mourn(self, worker: int, death: Died, groups: Groups) -> None:
        """What a worker has told is stored; what it was at is handed to another."""
        station = self.stations.pop(worker, Station(""))
        for _, tally in station.under_way.values():
            tally.n_unstarted += 1
        groups.put_back([planned for planned, _ in station.under_way.values()])
        self.n_deaths.update(list(station.under_way))
        self.n_deaths_in_a_row += 1
        n_under_way = len(station.under_way)
        logger.info("worker %d is gone (%s); its %d trials go to others", worker, death.why, n_under_way)
        worst = max(station.under_way, key=lambda key: self.n_deaths[key], default="")
        if self.n_deaths[worst] >= MOST_DEATHS or self.n_deaths_in_a_row >= MOST_DEATHS * self.most_stations:
            at = ""
            if worst:
                (trial, _), _ = station.under_way[worst]
                at = f" over trials of the same questions, such as {trial.question_id}, asked by {trial.method}"
            raise ClusterError(
                f"Workers of the cluster died again and again{at}. The last one: {death.why}. What was answered is "
                "kept, and running again goes on from there. Often a node has too little memory: give each worker more "
                "of it with fewer --workers or more --worker-cpus, or look into the logs of Ray on that node."
            )

    # --- what the forecast is told ------------------------------------------------------------

    def _n_left(self) -> Mapping[System, float]:
        left = Counter(super()._n_left())
        for (trial, _), _ in self._handed():
            left[System(trial.model, trial.method)] += 1
        return left

    def _underway(self, written: Mapping[int, int]) -> Iterator[Underway]:
        yield from super()._underway(written)
        for _, tally in self._handed():
            yield Underway(tally, 0, 0, tally.max_tokens)

    def _handed(self) -> Iterator[tuple[Planned, Tally]]:
        for station in self.stations.values():
            yield from station.under_way.values()


def _place(condition: Condition, places: dict[str, int]) -> int:
    """Among those that were planned; of one whose method followed the dataset, where it stood before it did."""
    if condition.identity not in places:
        assert condition.as_written is not None
        places[condition.identity] = places[replace(condition, method=condition.as_written, as_written=None).identity]
    return places[condition.identity]
