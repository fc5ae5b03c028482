"""Many cases of one target: fast by plain random numbers, or by hypothesis, which makes small what fails."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass, replace
from random import Random

from faults.fuzz.target import Target
from faults.fuzz.targets import TARGETS
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

LONGEST_SHOWN = 700
"""Characters of the input that failed."""
MOST_FAILURES = 3
"""Of one job; more of the same tell nothing."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    target: str
    n: int = 0
    """Cases."""
    seconds: float = 0.0
    failures: tuple[str, ...] = ()

    def __add__(self, other: Outcome) -> Outcome:
        return replace(
            self, n=self.n + other.n, seconds=self.seconds + other.seconds, failures=self.failures + other.failures
        )


def run_cases(name: str, n: int, first: int) -> Outcome:
    """The cases from one number on; a number makes the same case again."""
    target = TARGETS[name]
    warm_up(target)
    failures: list[str] = []
    start, n_run = time.perf_counter(), 0
    for case in range(first, first + n):
        value = target.make(Random(f"{name} {case}"))
        n_run += 1
        try:
            target.case(value)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # A library written in Rust panics past Exception.
            failures.append(describe(error, case, value))
            if len(failures) == MOST_FAILURES:
                break
    return Outcome(target=name, n=n_run, seconds=time.perf_counter() - start, failures=tuple(failures))


def explore(name: str, n: int, number: int) -> None:
    """So many cases by hypothesis; fails with the smallest that fails."""
    target = TARGETS[name]
    warm_up(target)
    values = st.randoms(use_true_random=False).map(target.make)
    checks = list(HealthCheck)
    settings(max_examples=n, deadline=None, database=None, suppress_health_check=checks)(
        seed(number)(given(values)(target.case))
    )()


def describe(error: BaseException, case: int, value: object) -> str:
    """What came out, where, and of what."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "shaketable" in frame.filename]
    place = f" at {frames[-1].filename.rpartition('shaketable/')[2]}:{frames[-1].lineno}" if frames else ""
    what = f"{type(error).__name__}: {str(error)[:LONGEST_SHOWN]}"
    return f"case {case}: {what}{place}\n    of {value!r:.{LONGEST_SHOWN}}"


_WARM: set[str] = set()


def warm_up(target: Target) -> None:
    """What is loaded once, such as a pipeline or a table of words, is no part of a case's time."""
    if target.name not in _WARM:
        _WARM.add(target.name)
        if target.warm is not None:
            target.warm()
