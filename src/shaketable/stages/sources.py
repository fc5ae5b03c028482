"""Where the scheduler's trials come from: a list, or scans that decide by what they have seen."""

from __future__ import annotations

import itertools
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from shaketable import catalog
from shaketable.facts.scans import GREEDY, Ask, Course, Outcomes, course, most_repeats
from shaketable.stages.forecast.survival import Survival
from shaketable.stages.forecast.tally import Kind, kind_of
from shaketable.stages.plan import Condition, Plan
from shaketable.types import Answer, Record, Scan, Trial, Variant

Planned = tuple[Trial, Condition]

AHEAD = 64
"""Questions asked at temperature 0 before it is known whether they are needed: they fill the batch. Where all are
needed they are all asked first: it is known early then how many facts there are to scan."""


class Source(Protocol):
    """Trials to run; what came of one may decide which is next."""

    def take(self, n: int) -> list[Planned]:
        """At most n trials to start now; none while all that could be started is under way, or at the end."""

    def done(self, record: Record) -> None: ...

    def expected(self) -> Mapping[Kind, float]:
        """Trials still to be taken, of kinds whose number shows on the way."""


class Listed:
    """Trials that are all known beforehand."""

    def __init__(self, trials: Iterator[Planned]) -> None:
        self.trials = trials

    def take(self, n: int) -> list[Planned]:
        return list(itertools.islice(self.trials, n))

    def done(self, record: Record) -> None:
        pass

    def expected(self) -> Mapping[Kind, float]:
        return {}


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
    n_asked: int = 0
    """Trials above temperature 0, so far."""


Cells = list[_Fact]
"""One question as it is asked in all cells of a group; a group of one condition and variation has one cell."""


@dataclass
class _Group:
    """The facts of one condition, dataset and variation, or of all together, in the study's order. The first that are
    known in a cell are scanned in every cell in which they are."""

    ahead: Iterator[Cells]
    n_ahead: int
    """Cells that are not asked yet."""
    opened: deque[Cells] = field(default_factory=deque)
    """Asked at temperature 0, and not yet taken or left in their turn."""
    n_scanned: int = 0
    is_closed: bool = False


@dataclass
class _Seen:
    """What the scan has met so far, for its forecast."""

    n_opened: int = 0
    """Facts that were asked at temperature 0."""
    n_decided: int = 0
    n_known: int = 0
    n_begun: int = 0
    """Known facts that are scanned, or were."""
    lengths: Counter[int] = field(default_factory=Counter)
    """Trials above temperature 0 → facts whose course ended after so many."""
    walking: dict[int, _Fact] = field(default_factory=dict)
    """Facts whose course is not at its end, by their identity."""


class Scanned:
    """The trials that scans ask for. Which facts are scanned does not depend on which answer came first."""

    def __init__(
        self, plan: Plan, scan: Scan, conditions: Sequence[Condition], stored: Mapping[str, str | None]
    ) -> None:
        self.plan, self.scan, self.stored = plan, scan, stored
        self.questions = {question.id: question for question in plan.questions}
        self.is_known = judge_by(scan.known, plan) if scan.known else lambda record: True
        self.is_correct = judge_by(scan.correct, plan)
        self.temperatures = plan.hot_temperatures_of(conditions[0])
        self.conditions = conditions
        self.seen = _Seen()
        self.all_groups = list(self._groups(conditions))
        self.groups = deque(self.all_groups)
        """Those with questions that are not asked yet."""
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
            yield _Group(iter(facts.values()), sum(map(len, facts.values())))

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

    def expected(self) -> Mapping[Kind, float]:
        """As many facts are known, and as many trials are asked of each, as of those so far."""
        seen = self.seen
        open_groups = [group for group in self.all_groups if not group.is_closed]
        n_ahead = sum(group.n_ahead for group in open_groups)
        share_known = (seen.n_known + 1) / (seen.n_decided + 2)
        n_facts = seen.n_known - seen.n_begun + share_known * (n_ahead + seen.n_opened - seen.n_decided)
        if self.scan.limit is not None and not self.scan.union:
            n_facts = min(n_facts, sum(self.scan.limit - group.n_scanned for group in open_groups))
        walking = [(fact.n_asked - len(fact.outcomes), len(fact.outcomes)) for fact in seen.walking.values()]
        most = len(self.temperatures) * most_repeats(self.scan, self.plan.study.repeats)
        lengths = Survival(seen.lengths, [n_answered for n_answered, _ in walking], most)
        n_hot = n_facts * lengths.mean() + sum(max(lengths.rest(n) - n_asked, 0.0) for n, n_asked in walking)
        n_ready = sum(trial.temperature > 0 for trial, _ in self.ready)
        n_cells = len(self.conditions)
        cold = (n_ahead + len(self.ready) - n_ready) / n_cells
        hot = (n_hot + n_ready) / (n_cells * max(len(self.temperatures), 1))
        return {kind_of(condition, 0.0): cold for condition in self.conditions} | {
            kind_of(condition, t): hot for condition in self.conditions for t in self.temperatures
        }

    # --- temperature 0, then the scan ---------------------------------------------------------

    def _open_next(self) -> bool:
        """Ask one more question at temperature 0; False when none may be asked now."""
        while self.groups:
            group = self.groups[0]
            if len(group.opened) >= AHEAD and not group.is_closed and not self._needs_all(group):
                return False
            cells = None if group.is_closed else next(group.ahead, None)
            if cells is not None:
                group.opened.append(cells)
                group.n_ahead -= len(cells)
                self.seen.n_opened += len(cells)
                for fact in cells:
                    self._ask(group, fact, [GREEDY])
                    if not fact.waiting:
                        self._go_on(group, fact)
                return True
            self.groups.popleft()
        return False

    def _needs_all(self, group: _Group) -> bool:
        return self.scan.limit is None or self.scan.limit - group.n_scanned >= group.n_ahead + len(group.opened)

    def _go_on(self, group: _Group, fact: _Fact) -> None:
        """All outcomes a fact waited for are there."""
        if fact.course is not None:
            self._walk(group, fact, fact.outcomes)
            return
        fact.is_known = fact.outcomes == [True]
        self.seen.n_decided += 1
        self.seen.n_known += fact.is_known
        # Facts are taken or left in their order, whichever answer came first.
        while group.opened and all(cell.is_known is not None for cell in group.opened[0]):
            known = [cell for cell in group.opened.popleft() if cell.is_known]
            if known and not group.is_closed:
                group.n_scanned += 1
                group.is_closed = group.n_scanned == self.scan.limit
                for cell in known:
                    hot = self.plan.hot_temperatures_of(cell.condition)
                    cell.course = course(self.scan, hot, self.plan.study.repeats)
                    self.seen.n_begun += 1
                    self.seen.walking[id(cell)] = cell
                    self._walk(group, cell, None)

    def _walk(self, group: _Group, fact: _Fact, outcomes: Outcomes | None) -> None:
        """Follow a fact's course until it waits for a trial, or ends."""
        assert fact.course is not None
        try:
            while not fact.waiting:
                self._ask(group, fact, next(fact.course) if outcomes is None else fact.course.send(outcomes))
                fact.n_asked += len(fact.outcomes)
                outcomes = fact.outcomes
        except StopIteration:
            self.seen.lengths[fact.n_asked] += 1
            self.seen.walking.pop(id(fact))

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
