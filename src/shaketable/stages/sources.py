"""Where the scheduler's trials come from: a list, or scans that decide by what they have seen."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from shaketable import catalog
from shaketable.facts.scans import GREEDY, Ask, Course, Outcomes, course
from shaketable.stages.plan import Condition, Plan, hot_temperatures
from shaketable.types import Answer, Record, Scan, Trial, Variant

Planned = tuple[Trial, Condition]

AHEAD = 64
"""Questions asked at temperature 0 before it is known whether they are needed: they fill the batch."""


class Source(Protocol):
    """Trials to run; what came of one may decide which is next."""

    def take(self, n: int) -> list[Planned]:
        """At most n trials to start now; none while all that could be started is under way, or at the end."""

    def done(self, record: Record) -> None: ...


class Listed:
    """Trials that are all known beforehand."""

    def __init__(self, trials: Iterator[Planned]) -> None:
        self.trials = trials

    def take(self, n: int) -> list[Planned]:
        return list(itertools.islice(self.trials, n))

    def done(self, record: Record) -> None:
        pass


@dataclass
class _Fact:
    """One wording under one condition: asked at temperature 0, and scanned if the model knows it."""

    variant: Variant
    condition: Condition
    is_known: bool | None = None
    """None: not asked yet."""
    course: Course | None = None
    waiting: dict[str, int] = field(default_factory=dict)
    """Key of a trial under way → its place among the outcomes that the course waits for."""
    outcomes: Outcomes = field(default_factory=list)


Cells = list[_Fact]
"""One question as it is asked in all cells of a group; a group of one condition and variation has one cell."""


@dataclass
class _Group:
    """The facts of one condition, dataset and variation, or of all together, in the study's order. The first that are
    known in a cell are scanned in every cell in which they are."""

    ahead: Iterator[Cells]
    opened: deque[Cells] = field(default_factory=deque)
    """Asked at temperature 0, and not yet taken or left in their turn."""
    n_scanned: int = 0
    is_closed: bool = False


class Scanned:
    """The trials that scans ask for. Which facts are scanned does not depend on which answer came first."""

    def __init__(
        self, plan: Plan, scan: Scan, conditions: Sequence[Condition], stored: Mapping[str, str | None]
    ) -> None:
        self.plan, self.scan, self.stored = plan, scan, stored
        self.questions = {question.id: question for question in plan.questions}
        self.is_known = judge_by(scan.known, plan) if scan.known else lambda record: True
        self.is_correct = judge_by(scan.correct, plan)
        self.temperatures = hot_temperatures(plan.study)
        self.groups = deque(self._groups(conditions))
        self.ready: deque[Planned] = deque()
        self.under_way: dict[str, tuple[_Group, _Fact]] = {}

    def _groups(self, conditions: Sequence[Condition]) -> Iterator[_Group]:
        """By cell and wording; in a union by dataset, and in it by question."""
        members: dict[tuple[str, ...], dict[str, Cells]] = {}
        for number, condition in enumerate(conditions):
            for place, variant in enumerate(self.plan.asked):
                dataset = self.questions[variant.question_id].dataset
                group = (dataset,) if self.scan.union else (str(number), dataset, variant.variation)
                name = variant.question_id if self.scan.union else str(place)
                members.setdefault(group, {}).setdefault(name, []).append(
                    _Fact(variant, self.plan.suited(variant, condition))
                )
        for facts in members.values():
            yield _Group(iter(facts.values()))

    # --- what the scheduler calls -------------------------------------------------------------

    def take(self, n: int) -> list[Planned]:
        while len(self.ready) < n and self._open_next():
            pass
        return [self.ready.popleft() for _ in range(min(n, len(self.ready)))]

    def done(self, record: Record) -> None:
        group, fact = self.under_way.pop(record.trial.key)
        fact.outcomes[fact.waiting.pop(record.trial.key)] = self._outcome(fact, record)
        if not fact.waiting:
            self._go_on(group, fact)

    # --- temperature 0, then the scan ---------------------------------------------------------

    def _open_next(self) -> bool:
        """Ask one more question at temperature 0; False when none may be asked now."""
        while self.groups:
            group = self.groups[0]
            if len(group.opened) >= AHEAD and not group.is_closed:
                return False
            cells = None if group.is_closed else next(group.ahead, None)
            if cells is not None:
                group.opened.append(cells)
                for fact in cells:
                    self._ask(group, fact, [GREEDY])
                    if not fact.waiting:
                        self._go_on(group, fact)
                return True
            self.groups.popleft()
        return False

    def _go_on(self, group: _Group, fact: _Fact) -> None:
        """All outcomes a fact waited for are there."""
        if fact.course is not None:
            self._walk(group, fact, fact.outcomes)
            return
        fact.is_known = fact.outcomes == [True]
        # Facts are taken or left in their order, whichever answer came first.
        while group.opened and all(cell.is_known is not None for cell in group.opened[0]):
            known = [cell for cell in group.opened.popleft() if cell.is_known]
            if known and not group.is_closed:
                group.n_scanned += 1
                group.is_closed = group.n_scanned == self.scan.limit
                for cell in known:
                    cell.course = course(self.scan, self.temperatures, self.plan.study.repeats)
                    self._walk(group, cell, None)

    def _walk(self, group: _Group, fact: _Fact, outcomes: Outcomes | None) -> None:
        """Follow a fact's course until it waits for a trial, or ends."""
        assert fact.course is not None
        try:
            while not fact.waiting:
                self._ask(group, fact, next(fact.course) if outcomes is None else fact.course.send(outcomes))
                outcomes = fact.outcomes
        except StopIteration:
            return

    def _ask(self, group: _Group, fact: _Fact, asks: Sequence[Ask]) -> None:
        """Queue what is not stored yet; what is stored counts at once."""
        fact.outcomes = [None] * len(asks)
        for place, ask in enumerate(asks):
            trial = self.plan.trial(fact.variant, fact.condition, *ask)
            if trial.key in self.stored:
                text = self.stored[trial.key]
                record = Record(trial=trial, answer=None if text is None else Answer(text=text))
                fact.outcomes[place] = self._outcome(fact, record)
            else:
                fact.waiting[trial.key] = place
                self.under_way[trial.key] = group, fact
                self.ready.append((trial, fact.condition))

    def _outcome(self, fact: _Fact, record: Record) -> bool | None:
        return (self.is_known if fact.course is None else self.is_correct)(record)


def judge_by(metric: str, plan: Plan) -> Callable[[Record], bool | None]:
    """Whether an answer is right, by a metric of the catalog; None where it has no number."""
    part = catalog.build("metric", metric, "scan")
    questions = {question.id: question for question in plan.questions}

    def judge(record: Record) -> bool | None:
        [[score, *_]] = part.score([record], questions)
        return None if score.value is None else bool(score.value == 1)

    return judge
