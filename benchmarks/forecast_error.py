"""Claim: from 30 seconds after the start on, the time left that a run tells is within a factor of 1.5 of the time that
it then really takes. The peer is the forecast by answers so far, as an ordinary progress bar makes it, of the same run.

    python benchmarks/forecast_error.py [STUDY] [LIMIT] [KEY=VALUE ...]
"""

import bisect
import math
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from machine import describe

from shaketable.stages.answer import answer
from shaketable.stages.plan import plan
from shaketable.stages.run import word
from shaketable.stages.scheduler import Tick
from shaketable.store import Run
from shaketable.study import load_study

FROM_SECONDS = 30.0
NEARLY_DONE_SECONDS = 5.0
"""With less to go, a second more or less is a large factor and no news."""


@dataclass(frozen=True)
class Told:
    seconds: float
    """Since the start."""
    left: float | None
    by_answers: float


def record(study_name: str, limit: int | None, settings: list[str]) -> tuple[list[Told], float]:
    """What was told while a study was answered, and how long that took."""
    study = load_study(study_name, settings, limit)
    told: list[Told] = []
    with tempfile.TemporaryDirectory() as folder:
        run = Run.prepare(Path(folder, "run"), study)
        planned = word(run, plan(study))

        def tick(now: Tick) -> None:
            seconds = time.perf_counter() - start
            n = now.n_done + now.n_failed
            told.append(Told(seconds, now.seconds_left, seconds / n * (planned.n_trials - n)))

        start = time.perf_counter()
        with run.writing() as store:
            done = answer(planned, store, tick)
        print(f"{study.name}: {done.n_done + done.n_failed:,} trials of at most {planned.n_trials:,} in ", end="")
        return told, time.perf_counter() - start


def factor(told: float, real: float) -> float:
    """How far off, up or down."""
    return math.inf if told <= 0 else max(told / real, real / told)


def main(study_name: str, limit: int | None, settings: list[str]) -> None:
    told, total = record(study_name, limit, settings)
    print(f"{total:.0f} s")
    places = [one.seconds for one in told]
    at = FROM_SECONDS
    while at < total:
        one = told[min(bisect.bisect_left(places, at), len(told) - 1)]
        real = total - one.seconds
        left = "…" if one.left is None else f"{one.left:.0f} s, ratio {one.left / real:.2f}"
        print(
            f"  after {one.seconds:.0f} s: told {left}; really {real:.0f} s; by answers so far {one.by_answers:.0f} s"
        )
        at *= 2
    late = [one for one in told if FROM_SECONDS <= one.seconds <= total - NEARLY_DONE_SECONDS]
    if late:
        worst = max(factor(one.left or 0.0, total - one.seconds) for one in late)
        by_answers = max(factor(one.by_answers, total - one.seconds) for one in late)
        print(f"  worst factor from {FROM_SECONDS:.0f} s on: {worst:.2f}; by answers so far: {by_answers:.2f}")
    print(describe())


if __name__ == "__main__":
    given = sys.argv[1:]
    main(
        next(iter(given), "demo"),
        next((int(word) for word in given[1:] if word.isdigit()), None),
        [word for word in given[1:] if "=" in word],
    )
