"""One question of a run, asked again with other evidence or in other words, many ways at once."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from shaketable.identity import digest, seed_from
from shaketable.protocols import Model
from shaketable.stages.explaining.changed_evidence import Changed, Remembered
from shaketable.stages.explaining.judging import Judge, summarize_repeats
from shaketable.stages.meter import Meter
from shaketable.stages.plan import Condition, Plan
from shaketable.stages.scheduler import Scheduler
from shaketable.stages.sources import Listed
from shaketable.store.explanations import GivenAnswer
from shaketable.types import Json, Limits, Record, Trial


@dataclass(frozen=True, kw_only=True)
class Asking:
    """One way to ask."""

    perturbation: Changed | None = None
    """None: the evidence is not touched, or there is none."""
    wording: str | None = None
    """None: as it was asked."""


@dataclass
class Sink:
    """Keeps records by their keys; nothing goes into the run."""

    records: dict[str, Record] = field(default_factory=dict)

    def append(self, records: Sequence[tuple[Record, Condition]], environment: Mapping[str, Json]) -> None:
        self.records.update((record.trial.key, record) for record, _ in records)


class OneModelMeter(Meter):
    """What a trial takes stays known from one batch to the next: the model is the same."""

    def begin(self, model: Model, *, in_batches: bool = False) -> None:
        pass


class Asker:
    """Asks one question of one system through the scheduler, and counts the calls."""

    def __init__(self, plan: Plan, condition: Condition, trial: Trial, judge: Judge, repeats: int, max_calls: int):
        self.plan, self.trial, self.judge, self.repeats = plan, trial, judge, repeats
        self.meter = OneModelMeter(Limits(max_calls=max_calls))
        self.max_calls = max_calls
        retriever = condition.retriever
        self.condition = (
            condition if retriever is None else replace(condition, retriever=Remembered(retriever=retriever))
        )
        self.numbers = itertools.count()

    @property
    def n_calls(self) -> int:
        return self.meter.n_calls

    @property
    def dollars(self) -> float | None:
        spent = [own for own in self.meter.systems.values() if own.n_priced]
        return sum(own.dollars for own in spent) if spent else None

    def n_affordable(self) -> int:
        """Ways to ask that the calls left allow, at what one took so far."""
        now = self.meter.now
        a_way = self.repeats * (max(now.n_calls / now.n_trials, 1.0) if now.n_trials else 1.0)
        return max(int((self.max_calls - self.n_calls) / a_way + 1e-9), 0)

    def records(self, askings: Sequence[Asking]) -> list[list[Record]]:
        """The repeats of each, as far as the limit of calls allows; a new scheduler for each batch, since evidence is
        remembered by where a perturbation lies in memory."""
        planned = [[self._trial(asking, repeat) for repeat in range(self.repeats)] for asking in askings]
        sink = Sink()
        scheduler = Scheduler(self.plan, sink, lambda tick: None, meter=self.meter)
        scheduler.run(self.condition.model, Listed(iter([trial for own in planned for trial in own])))
        return [[sink.records[trial.key] for trial, _ in own if trial.key in sink.records] for own in planned]

    def ask(self, askings: Sequence[Asking]) -> list[GivenAnswer]:
        asked = self.records(askings)
        [question] = self.plan.questions
        verdicts = iter(self.judge.judge([record for own in asked for record in own], question))
        return [summarize_repeats(own, [next(verdicts) for _ in own]) for own in asked]

    def _trial(self, asking: Asking, repeat: int) -> tuple[Trial, Condition]:
        """With the seeds of the first answer, so that nothing but the change makes a difference."""
        perturbation = asking.perturbation
        condition = self.condition if perturbation is None else replace(self.condition, perturbation=perturbation)
        key = digest([self.trial.key, next(self.numbers), repeat])
        seed = self.trial.seed if repeat == 0 else seed_from(self.trial.seed, repeat)
        variant = self.trial.variant
        if asking.wording is not None:
            variant = replace(variant, text=asking.wording)
        return replace(self.trial, key=key, variant=variant, repeat=repeat, seed=seed), condition
