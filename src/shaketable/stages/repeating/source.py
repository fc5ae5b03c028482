"""The trials of repeats that end when a mean is known well enough."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shaketable.stages.forecast.tally import Kind, kind_of
from shaketable.stages.plan import Condition, Plan
from shaketable.stages.repeating.judging import judge_of
from shaketable.stages.repeating.looks import Looked, looked_at, precision_of
from shaketable.stages.sources import Planned
from shaketable.statistics.repeated_means import RepeatedMean
from shaketable.store.repeats import RepeatedCell
from shaketable.types import Record, Trial

ROUNDING = 1e-9


@dataclass
class _Cell:
    """How far a condition has come."""

    looked: Looked
    mean: RepeatedMean
    values: NDArray[np.float64]
    """Repeats up to the next look × wordings; NaN: not there yet, or without a score."""
    n_look: int = 0
    """Looks that were taken."""
    n_open: int = 0
    """Trials before the next look that have not ended."""
    n_untaken: int = 0
    """Of them, those that were not handed out."""
    is_narrow: bool = False
    is_over: bool = False

    @property
    def n_repeats(self) -> int:
        """Up to the next look."""
        return self.looked.looks[min(self.n_look, len(self.looked.looks) - 1)]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a trial stands."""

    cell: _Cell
    repeat: int
    variant: int


@dataclass
class Repeated:
    """A source that looks at each condition after whole repeats. What it asks next depends on all answers before the
    look, and not on which came first; those of other conditions do not count."""

    plan: Plan
    conditions: Sequence[Condition]
    stored: Mapping[str, str | None]
    """Key → answer of trials that have ended; None: it failed for good."""
    cells: list[_Cell] = field(init=False)
    ready: deque[Planned] = field(init=False, default_factory=deque)
    under_way: dict[str, _Place] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.precision, self.level = precision_of(self.plan.study), self.plan.study.confidence
        self.judge = judge_of(self.plan.study, {question.id: question for question in self.plan.questions})
        self.cells = [self._begin(looked) for looked in looked_at(self.plan, self.conditions)]
        self.first = self._first_trials()

    def _begin(self, looked: Looked) -> _Cell:
        cell = _Cell(looked, RepeatedMean(looked.weights), np.full((looked.looks[0], len(looked.variants)), math.nan))
        cell.n_open = cell.n_untaken = cell.values.size
        return cell

    # --- what the scheduler calls -------------------------------------------------------------

    def take(self, n: int) -> list[Planned]:
        while len(self.ready) < n and (planned := next(self.first, None)) is not None:
            self.ready.append(planned)
        taken = [self.ready.popleft() for _ in range(min(n, len(self.ready)))]
        for trial, _ in taken:
            self.under_way[trial.key].cell.n_untaken -= 1
        return taken

    def done(self, record: Record) -> None:
        place = self.under_way.pop(record.trial.key)
        self._note(place, record.trial, None if record.answer is None else record.answer.text)
        if not place.cell.n_open:
            self._go_on(place.cell)

    def expected(self) -> Mapping[Kind, float]:
        """As many more repeats as would narrow each interval, at the pace of a square root."""
        known = [self._n_likely(cell) for cell in self.cells if cell.n_look]
        expected: Counter[Kind] = Counter()
        for cell in self.cells:
            if not cell.is_over:
                first, most = cell.looked.looks[0], cell.looked.looks[-1]
                unknown = sum(known) / len(known) if known else math.sqrt(first * most)
                n = min(max(self._n_likely(cell) if cell.n_look else unknown, cell.n_repeats), most)
                n_more = (n - cell.n_repeats) * len(cell.looked.variants)
                kind = kind_of(cell.looked.condition, cell.looked.temperature)
                expected[kind] += cell.n_untaken + n_more  # type: ignore[assignment]
        return expected

    # --- from look to look --------------------------------------------------------------------

    def _first_trials(self) -> Iterator[Planned]:
        """Up to the first look of each condition, one prompt's temperatures and repeats next to each other."""
        members: dict[int, list[tuple[_Cell, int]]] = {}
        for cell in self.cells:
            for i, variant in enumerate(cell.looked.variants):
                members.setdefault(id(variant), []).append((cell, i))
        for own in members.values():
            for cell, i in own:
                for repeat in range(cell.looked.looks[0]):
                    if (planned := self._ask(_Place(cell, repeat, i))) is not None:
                        yield planned
                if not cell.n_open:
                    self._go_on(cell)

    def _go_on(self, cell: _Cell) -> None:
        """All trials before a look have ended: stop here, or ask up to the next look, and so on where all is stored."""
        while not cell.n_open and not cell.is_over:
            for values in cell.values:
                cell.mean.add(values)
            low, high = cell.mean.interval(self.level)
            cell.is_narrow = high - low <= 2 * self.precision.until + ROUNDING
            cell.n_look, begin = cell.n_look + 1, cell.mean.n_repeats
            if cell.is_narrow or cell.mean.is_empty or cell.n_look == len(cell.looked.looks):
                cell.is_over = True
                return
            cell.values = np.full((cell.n_repeats - begin, len(cell.looked.variants)), math.nan)
            cell.n_open = cell.n_untaken = cell.values.size
            for i in range(len(cell.looked.variants)):
                asked = (self._ask(_Place(cell, begin + n, i)) for n in range(len(cell.values)))
                self.ready.extend(planned for planned in asked if planned is not None)

    def _ask(self, place: _Place) -> Planned | None:
        """None: it is stored, and counts at once."""
        looked = place.cell.looked
        variant = looked.variants[place.variant]
        condition = self.plan.suited(variant, looked.condition)
        trial = self.plan.trial(variant, condition, looked.temperature, place.repeat)
        if trial.key not in self.stored:
            self.under_way[trial.key] = place
            return trial, condition
        place.cell.n_untaken -= 1
        self._note(place, trial, self.stored[trial.key])
        return None

    def _note(self, place: _Place, trial: Trial, text: str | None) -> None:
        cell = place.cell
        cell.values[place.repeat - cell.mean.n_repeats, place.variant] = self.judge.value(trial, text)
        cell.n_open -= 1

    def _n_likely(self, cell: _Cell) -> float:
        """Repeats at which its interval is likely to be narrow enough."""
        if cell.is_over:
            return cell.mean.n_repeats
        low, high = cell.mean.interval(self.level)
        return cell.mean.n_repeats * ((high - low) / (2 * self.precision.until)) ** 2

    # --- at the end ---------------------------------------------------------------------------

    def result(self) -> list[RepeatedCell]:
        """What came of each condition so far."""
        return [self._result(cell) for cell in self.cells]

    def _result(self, cell: _Cell) -> RepeatedCell:
        looked, labels = cell.looked, cell.looked.condition.labels
        low, high = cell.mean.interval(self.level)
        return RepeatedCell(
            dataset=looked.dataset,
            model=str(labels["model"]),
            method=str(labels["method"]),
            retriever=labels["retriever"],
            perturbation=labels["perturbation"],
            variation=looked.variation,
            temperature=looked.temperature,
            n_repeats=cell.mean.n_repeats,
            low=None if cell.mean.n_repeats < 2 or cell.mean.is_empty else low,
            high=None if cell.mean.n_repeats < 2 or cell.mean.is_empty else high,
            is_narrow=cell.is_narrow,
            is_over=cell.is_over,
        )
