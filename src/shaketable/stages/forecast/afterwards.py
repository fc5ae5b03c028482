"""What comes after answering, scores, analyses and report → how long it takes, as it took on this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter

from shaketable import catalog
from shaketable.report.time_words import rough_duration
from shaketable.stages.measured import known_afterwards, remember_afterwards
from shaketable.stages.pipeline import REPORT
from shaketable.types import Study

WORTH_TELLING_SECONDS = 3.0

Taken = Sequence[tuple[int, float]]
"""Answers of a run, and seconds: of the smallest and the largest that ran here."""


class Afterwards:
    """Tells each step as it begins, with its time where that is known, and remembers what it took."""

    def __init__(self, n_answers: int, tell: Callable[[str], None]) -> None:
        self.n_answers, self.tell = n_answers, tell
        self.known = known_afterwards()
        self.took: dict[str, Taken] = {}
        self.present: tuple[str, float] | None = None

    def begin(self, step: str) -> None:
        self.end()
        seconds = expected(self.known.get(step, ()), self.n_answers)
        self.tell(step if seconds < WORTH_TELLING_SECONDS else f"{step}, about {rough_duration(seconds)}")
        self.present = step, perf_counter()

    def end(self) -> None:
        if self.present is not None:
            step, begun = self.present
            self.took[step] = merged(self.known.get(step, ()), self.n_answers, perf_counter() - begun)
            self.present = None

    def remember(self) -> None:
        self.end()
        remember_afterwards(self.took)


def steps_of(study: Study) -> list[str]:
    """The names under which they are remembered."""
    metrics = [catalog.label(catalog.build("metric", text, "score.metrics")) for text in study.metrics]
    return [*map("scoring {}".format, metrics), *map("analyzing {}".format, study.analyses), REPORT]


def seconds_afterwards(study: Study, n_answers: int) -> float:
    """Of all steps that ran on this machine before; 0: none did."""
    known: Mapping[str, Taken] = known_afterwards()
    return sum(expected(known.get(step, ()), n_answers) for step in steps_of(study))


def expected(taken: Taken, n_answers: int) -> float:
    """A line through two runs. Of one run it is not known what every answer takes: one that is up to twice as large
    takes as long, and larger ones in proportion."""
    if not taken:
        return 0.0
    (n_small, small), (n_large, large) = taken[0], taken[-1]
    if n_large <= n_small:
        return large * max(n_answers / max(2 * n_large, 1), 1.0)
    slope = max(large - small, 0.0) / (n_large - n_small)
    return max(small + slope * (n_answers - n_small), 0.0)


def merged(taken: Taken, n_answers: int, seconds: float) -> Taken:
    """What is remembered with a new run: it, and the one among the others whose size differs most from its own."""
    others = [run for run in taken if not 0.5 <= run[0] / max(n_answers, 1) <= 2]
    kept = sorted(others, key=lambda run: abs(run[0] - n_answers))[-1:]
    return sorted([*kept, (n_answers, round(seconds, 3))])
