"""One question of a run, asked again with other evidence or in other words, many ways at once."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from shaketable import catalog
from shaketable.factors import judging_metric, numbers_of
from shaketable.identity import digest, seed_from
from shaketable.protocols import Metric, Model, PreparingMetric
from shaketable.stages.changed_evidence import Changed, Remembered
from shaketable.stages.meter import Meter
from shaketable.stages.plan import Condition, Plan
from shaketable.stages.scheduler import Scheduler
from shaketable.stages.sources import Listed
from shaketable.store.explanations import GivenAnswer
from shaketable.types import Json, Limits, Question, Record, Study, Trial, Variant

SAME_ANSWER = "same_answer"


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

    def begin(self, model: Model) -> None:
        pass


class Judge:
    """Answers → right or wrong, by the number of the run that tells it; else whether they say what the first says."""

    def __init__(self, study: Study, metrics: Sequence[str]) -> None:
        names = numbers_of(metrics)
        number = judging_metric(names, study.main_metric if study.main_metric in names else None)
        self.number = None if number == SAME_ANSWER else number
        """None: answers are compared with the first."""
        texts = [text for text in metrics if self.number in numbers_of([text])]
        self.metric: Metric = catalog.build("metric", texts[0] if texts else SAME_ANSWER)

    @property
    def identity(self) -> str:
        return catalog.spelled(self.metric) if self.number else SAME_ANSWER

    def compare_with(self, first: Record, question: Question) -> None:
        """From now on, where nothing tells right from wrong."""
        self.number = None
        self.metric = catalog.build("metric", SAME_ANSWER)
        assert isinstance(self.metric, PreparingMetric)
        trial = first.trial
        plain = replace(trial, variant=replace(trial.variant, variation="original"), perturbation=None)
        self.metric.prepare([replace(first, trial=plain)], {question.id: question})

    def judge(self, records: Sequence[Record], question: Question) -> list[bool | None]:
        wanted = self.number or SAME_ANSWER
        values = [
            next((score.value for score in scores if score.metric == wanted), None)
            for scores in self.metric.score(records, {question.id: question})
        ]
        return [None if value is None else value >= 0.5 for value in values]


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
        condition = self.condition
        if asking.perturbation is not None:
            condition = replace(condition, perturbation=asking.perturbation)
        key = digest([self.trial.key, next(self.numbers), repeat])
        seed = self.trial.seed if repeat == 0 else seed_from(self.trial.seed, repeat)
        variant: Variant = self.trial.variant
        if asking.wording is not None:
            variant = replace(variant, text=asking.wording)
        return replace(self.trial, key=key, variant=variant, repeat=repeat, seed=seed), condition


def summarize_repeats(records: Sequence[Record], verdicts: Sequence[bool | None]) -> GivenAnswer:
    """By the most verdicts; where as many say the one as the other, it cannot be told."""
    n_right, n_wrong = (sum(verdict is value for verdict in verdicts) for value in (True, False))
    is_right = None if n_right == n_wrong else n_right > n_wrong
    paired = list(zip(records, verdicts, strict=True))
    shown = next((record for record, verdict in paired if verdict is is_right), records[0] if records else None)
    if shown is None:
        return GivenAnswer(text="", is_right=None, failure="It was not asked: the limit of calls was reached.")
    return GivenAnswer(
        text=shown.answer.text if shown.answer else "",
        is_right=is_right,
        failure=shown.failure.message if shown.failure else None,
    )
