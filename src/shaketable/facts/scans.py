"""Which trials of a fact to run next: courses through the temperatures, from the full grid to a sequential test.

A course is a generator, as a method is: it yields the trials it wants, as pairs of temperature and
repeat, and is sent one outcome for each: right, wrong, or None for a trial that failed. What it has
seen decides what it asks next, and nothing else, so a course that is walked again over stored
outcomes goes the same way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

from shaketable.types import Scan

Ask = tuple[float, int]
Outcomes = list[bool | None]
Course = Generator[list[Ask], Outcomes, None]
Judged = Generator[list[Ask], Outcomes, bool]
"""A part of a course that ends in a verdict: broken here?"""

GREEDY: Ask = (0.0, 0)
LEAD = 8
"""Sequential test of p >= 0.6 against p <= 0.4 with errors of 0.05: ceil(ln 19 / ln 1.5)."""
MOST_SEQUENTIAL = 60
"""Trials after which a sequential test gives up and takes the share it has."""


def most_repeats(scan: Scan, repeats: int) -> int:
    """Trials at one temperature, at most."""
    return {"none": 0, "sequential": MOST_SEQUENTIAL}.get(scan.strategy, repeats)


def course(scan: Scan, temperatures: Sequence[float], repeats: int) -> Course:
    """The trials of one fact above temperature 0, by the study's strategy."""
    if scan.strategy == "full":
        yield [(temperature, repeat) for temperature in temperatures for repeat in range(repeats)]
        return
    if scan.strategy == "none":
        return
    judge = JUDGES[scan.strategy]

    def broken(temperature: float) -> Judged:
        return judge(temperature, repeats, scan.threshold)

    yield from (_bisect if "bisection" in scan.strategy else _until_broken)(temperatures, broken)


def _until_broken(temperatures: Sequence[float], broken: Callable[[float], Judged]) -> Course:
    for temperature in temperatures:
        if (yield from broken(temperature)):
            return


def _bisect(temperatures: Sequence[float], broken: Callable[[float], Judged]) -> Course:
    """Halve the grid; then look once more below what was found, because accuracy may not fall steadily."""
    low, high, seen = 0, len(temperatures) - 1, set()
    while low <= high:
        middle = (low + high) // 2
        seen.add(middle)
        if (yield from broken(temperatures[middle])):
            high = middle - 1
        else:
            low = middle + 1
    below = [i for i in range(low) if i not in seen]
    if below:
        yield from broken(temperatures[below[-1]])


# --- one temperature ------------------------------------------------------------------------------


@dataclass
class _Tally:
    temperature: float
    n_asked: int = 0
    n_right: int = 0
    n_wrong: int = 0

    def ask(self, n: int) -> Generator[list[Ask], Outcomes, None]:
        """Ask for n more trials and count what comes back."""
        outcomes = yield [(self.temperature, self.n_asked + i) for i in range(n)]
        self.n_asked += n
        self.n_right += sum(outcome is True for outcome in outcomes)
        self.n_wrong += sum(outcome is False for outcome in outcomes)

    def is_below(self, threshold: float) -> bool:
        """Failed trials say nothing; where all failed, nothing is known to be broken."""
        n = self.n_right + self.n_wrong
        return n > 0 and self.n_right / n < threshold


def _all_repeats(temperature: float, repeats: int, threshold: float) -> Judged:
    tally = _Tally(temperature)
    yield from tally.ask(repeats)
    return tally.is_below(threshold)


def _curtailed(temperature: float, repeats: int, threshold: float) -> Judged:
    """Stop as soon as the rest cannot change the verdict; it is always that of all repeats."""
    enough = math.ceil(threshold * repeats - 1e-9)
    too_many = repeats - enough + 1
    tally = _Tally(temperature)
    while tally.n_right < enough and tally.n_wrong < too_many and tally.n_asked < repeats:
        # So many at least are needed for either verdict: asking them together wastes none.
        yield from tally.ask(min(enough - tally.n_right, too_many - tally.n_wrong, repeats - tally.n_asked))
    return tally.is_below(threshold)


def _sequential(temperature: float, repeats: int, threshold: float) -> Judged:
    """Until right or wrong leads by 8."""
    tally = _Tally(temperature)
    while abs(tally.n_right - tally.n_wrong) < LEAD and tally.n_asked < MOST_SEQUENTIAL:
        yield from tally.ask(min(LEAD - abs(tally.n_right - tally.n_wrong), MOST_SEQUENTIAL - tally.n_asked))
    return tally.is_below(threshold)


JUDGES = {
    "incremental": _all_repeats,
    "curtailed": _curtailed,
    "bisection": _all_repeats,
    "curtailed_bisection": _curtailed,
    "sequential": _sequential,
}
