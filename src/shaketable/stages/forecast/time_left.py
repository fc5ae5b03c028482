"""What the trials took so far → the time that the others will take.

Trials of one kind are asked alike and cost alike. Of each kind it is known how long its replies become, how many of
them a trial asks for, and what reading a prompt takes. Where too little of it is known, a range is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from time import perf_counter
from typing import NamedTuple

from shaketable.stages.forecast.pace import MIN_SECONDS, Recent
from shaketable.stages.forecast.remainder import Remainder
from shaketable.stages.forecast.stepping import Stepping
from shaketable.stages.forecast.tally import Kind, Tally, Underway
from shaketable.types import Trial

MIN_REPLIES = 8
LIKELY = 1.5
"""Standard errors to both sides that a range spans."""
SURE = 2.25
"""A range that is not wider than this, from 1.5 times below to 1.5 times above, is told as one number."""
NEAR_SECONDS = 10.0
"""Less apart, nobody minds."""
UNSURE = 6.0
"""A range that is wider than this says nothing."""


YOUNG_SECONDS = 60.0
"""Of a model, in which its beginning may mislead."""


class Left(NamedTuple):
    """Seconds until all is answered."""

    seconds: float
    low: float
    high: float

    @property
    def is_sure(self) -> bool:
        """Whether one number says it."""
        return self.high <= max(SURE * self.low, self.low + NEAR_SECONDS)

    def after(self, seconds: float) -> Left:
        """The same forecast, told later."""
        return Left(*(max(value - seconds, 0.0) for value in self))


class TimeLeft:
    def __init__(self, tallies: Mapping[Kind, Tally]) -> None:
        self.tallies = dict(tallies)
        self.begun: float | None = None
        """When the present model began; None: it is being loaded."""
        self.earlier = 0.0
        """Seconds that the models before it took."""
        self.before = 0.0
        """Work that was done when it began, in seconds by the models' own account."""
        self.stepping = Stepping()
        self.recent = Recent()

    def start(self, trial: Trial) -> Tally:
        """The tally that a trial counts in from now on."""
        kind = Kind(trial.model, trial.method, trial.retriever, trial.perturbation, trial.temperature)
        tally = self.tallies.get(kind)
        if tally is None:
            tally = self.tallies[kind] = Tally()
        tally.n_unstarted = max(tally.n_unstarted - 1, 0.0)
        return tally

    def expect(self, unstarted: Mapping[Kind, float]) -> None:
        """How many trials of some kinds are still to come, as far as can be told now."""
        for kind, n in unstarted.items():
            self.tallies.setdefault(kind, Tally()).n_unstarted = n

    def elapsed(self) -> float:
        """Seconds that were spent answering, without loading."""
        return self.earlier + (0.0 if self.begun is None else perf_counter() - self.begun)

    def begin(self) -> None:
        """A model is loaded; what came before says nothing about its speed."""
        if self.begun is None:
            self.begun = perf_counter()
            self.before = sum(tally.seconds for tally in self.tallies.values())
            self.stepping, self.recent = Stepping(), Recent()

    def end(self) -> None:
        """All trials of a model are answered."""
        self.earlier, self.begun = self.elapsed(), None

    def seconds(self, underway: Iterable[Underway], *, is_told: bool) -> Left | None:
        """Until all is answered; None: too little was seen. `is_told`: how far replies under way have come is known."""
        elapsed = 0.0 if self.begun is None else perf_counter() - self.begun
        waiting = list(underway)
        n_replies = sum(tally.n_replies for tally in self.tallies.values())
        self.recent.note(elapsed, sum(tally.calls.total() for tally in self.tallies.values()))
        if elapsed < MIN_SECONDS or n_replies < MIN_REPLIES or self._is_mostly_unseen(waiting):
            return None
        rest = Remainder(self.tallies, waiting, self.stepping if is_told else None)
        low, likely, high = (
            work * rest.pace(elapsed, work, self.before)
            for work in (min(rest.draws(-LIKELY)), fmean(rest.draws(0.0)), max(rest.draws(LIKELY)))
        )
        left = Left(likely, min(low, likely), max(high, likely))
        if not is_told and elapsed < YOUNG_SECONDS:
            left = self._widened(left, waiting)
        return left if left.high <= UNSURE * left.low else None

    def _widened(self, left: Left, waiting: Sequence[Underway]) -> Left:
        """With what it takes if trials go on to end as fast as they did of late: a server that wakes up is slow at
        first."""
        each = self.recent.seconds_each()
        if each is None:
            return left
        seconds = each * (len(waiting) + sum(tally.n_unstarted for tally in self.tallies.values()))
        return left._replace(low=min(left.low, seconds))

    def _is_mostly_unseen(self, waiting: Sequence[Underway]) -> bool:
        """Whether most that the present model has still to answer is of kinds that it was not asked yet."""
        counts = Counter(id(trial.tally) for trial in waiting)
        present = {kind.model for kind, tally in self.tallies.items() if counts[id(tally)]}
        own = [tally for kind, tally in self.tallies.items() if kind.model in present]
        unseen = sum(tally.n_unstarted for tally in own if not tally.max_tokens)
        return unseen > sum(tally.n_unstarted + counts[id(tally)] for tally in own) / 2
