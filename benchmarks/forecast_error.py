"""Claim: from 30 seconds after the start on, the time left that a run tells is within a factor of 1.5 of the time that
it then really takes, or within five seconds; where it tells a range, the truth lies in it. The peer is the forecast by
answers so far, as an ordinary progress bar makes it, of the same run.

    python benchmarks/forecast_error.py [--processor] [STUDY] [LIMIT] [KEY=VALUE ...]

`--processor` takes processor time for the clock, on a machine that others use too; with OMP_NUM_THREADS=1.
"""

import bisect
import math
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

PROCESSOR = "--processor"
if PROCESSOR in sys.argv:
    time.perf_counter = time.process_time  # Before the package takes its own.

from machine import describe  # noqa: E402

from shaketable.stages.answer import answer  # noqa: E402
from shaketable.stages.plan import plan  # noqa: E402
from shaketable.stages.run import word  # noqa: E402
from shaketable.stages.scheduler import Tick  # noqa: E402
from shaketable.store import Run  # noqa: E402
from shaketable.study import load_study  # noqa: E402

FROM_SECONDS = 30.0
SLACK_SECONDS = 5.0
"""Nobody plans by less: with little to go, a second more or less is a large factor and no news."""


@dataclass(frozen=True)
class Told:
    seconds: float
    """Since the model was loaded: loading and proving tell no time."""
    left: float | None
    span: tuple[float, float] | None
    by_answers: float


def record(study_name: str, limit: int | None, settings: list[str]) -> tuple[list[Told], float]:
    """What was told while a study was answered, and how long that took."""
    study = load_study(study_name, settings, limit)
    told: list[Told] = []
    with tempfile.TemporaryDirectory() as folder:
        run = Run.prepare(Path(folder, "run"), study)
        planned = word(run, plan(study))

        def tick(now: Tick) -> None:
            n = now.n_done + now.n_failed
            by_answers = now.seconds / n * (planned.n_trials - n) if n else math.inf
            told.append(Told(now.seconds, now.seconds_left, now.seconds_range, by_answers))

        with run.writing() as store:
            done = answer(planned, store, tick)
        print(f"{study.name}: {done.n_done + done.n_failed:,} trials of at most {planned.n_trials:,} in ", end="")
        return told, told[-1].seconds


def factor(told: float, real: float) -> float:
    """How far off, up or down."""
    if abs(told - real) <= SLACK_SECONDS:
        return 1.0
    return math.inf if told <= 0 else max(told / real, real / told)


def main(study_name: str, limit: int | None, settings: list[str]) -> None:
    told, total = record(study_name, limit, settings)
    print(f"{total:.0f} s")
    places = [each.seconds for each in told]
    at = FROM_SECONDS
    while at < total:
        each = told[min(bisect.bisect_left(places, at), len(told) - 1)]
        real = total - each.seconds
        left = "…" if each.left is None else f"{each.left:.0f} s, ratio {each.left / max(real, 0.1):.2f}"
        span = "" if each.span is None else f" (told as {each.span[0]:.0f} to {each.span[1]:.0f} s)"
        print(f"  after {each.seconds:.0f} s: {left}{span}; really {real:.0f}; by answers {each.by_answers:.0f} s")
        at *= 1.4
    summarize([each for each in told if each.seconds >= FROM_SECONDS], total)
    print(describe())


def summarize(late: list[Told], total: float) -> None:
    numbers = [factor(each.left, total - each.seconds) for each in late if each.left is not None and not each.span]
    spans = [(*each.span, total - each.seconds) for each in late if each.span]
    held = sum(low <= real <= high for low, high, real in spans)
    nothing = sum(each.left is None for each in late)
    by_answers = max((factor(each.by_answers, total - each.seconds) for each in late), default=1.0)
    widest = max((high / low for low, high, _ in spans), default=1.0)
    print(
        f"  from {FROM_SECONDS:.0f} s on: {len(numbers)} numbers, worst factor {max(numbers, default=1.0):.2f}; "
        f"{len(spans)} ranges, {held} with the truth in them, up to {widest:.1f} wide; nothing {nothing} times; "
        f"by answers so far worst {by_answers:.2f}"
    )


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if word != PROCESSOR]
    main(
        next(iter(given), "demo"),
        next((int(word) for word in given[1:] if word.isdigit()), None),
        [word for word in given[1:] if "=" in word],
    )
