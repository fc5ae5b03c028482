"""Claim: whatever comes in, what goes out is a refusal in words or a number that holds.

    python benchmarks/fuzz.py [--cases N] [--target NAME] [--seconds S] [--jobs N] [--first N]

`--cases` are shared out among all targets of `tests/faults/fuzz`, in several processes; targets that take long get
fewer. It prints the cases of each target and every failure with its number, which makes it again.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

os.environ.setdefault("POLARS_MAX_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path[:0] = [str(Path(__file__).parents[1] / "tests"), str(Path(__file__).parents[1] / "tests" / "helpers")]

from faults.fuzz.running import Outcome, run_cases  # noqa: E402
from faults.fuzz.targets import TARGETS, WEIGHTS  # noqa: E402
from machine import describe  # noqa: E402

AT_ONCE = 500
"""Cases of one target that a process runs before it takes the next."""


def main(n_cases: int, names: list[str], seconds: float, n_jobs: int, first: int) -> int:
    start = time.perf_counter()
    outcomes: dict[str, Outcome] = {}
    with ProcessPoolExecutor(n_jobs, mp_context=get_context("spawn")) as pool:
        jobs = shared_out(n_cases, names, first)
        waiting = {pool.submit(run_cases, *job) for job in jobs}
        for done in as_completed(waiting):
            if done.cancelled():
                continue
            outcome = done.result()
            outcomes[outcome.target] = outcomes.get(outcome.target, Outcome(target=outcome.target)) + outcome
            for failure in outcome.failures:
                print(f"{outcome.target}: {failure}", flush=True)
            if time.perf_counter() - start > seconds:
                for other in waiting:
                    other.cancel()
    print(format_table(list(outcomes.values())))
    n, n_failed = (sum(values) for values in zip(*((o.n, len(o.failures)) for o in outcomes.values()), strict=True))
    print(
        f"{n:,} cases, {n_failed} failures; {time.perf_counter() - start:.0f} s with {n_jobs} processes; {describe()}"
    )
    return 1 if n_failed else 0


def shared_out(n_cases: int, names: list[str], first: int) -> list[tuple[str, int, int]]:
    """Target, number of cases and the first of them of each job, the targets in turn."""
    chosen = [name for name in TARGETS if not names or name in names]
    whole = sum(WEIGHTS.get(name, 1.0) for name in chosen)
    left = {name: round(n_cases * WEIGHTS.get(name, 1.0) / whole) for name in chosen}
    jobs = []
    while any(left.values()):
        for name in [name for name in chosen if left[name]]:
            n = min(AT_ONCE, left[name])
            left[name] -= n
            jobs.append((name, n, first + left[name]))
    return jobs


def format_table(outcomes: list[Outcome]) -> str:
    rows = [
        f"{o.target:24} {o.n:>9,} {len(o.failures):>9} {1000 * o.seconds / max(o.n, 1):>9.1f}"
        for o in sorted(outcomes, key=lambda outcome: outcome.target)
    ]
    return "\n".join([f"{'target':24} {'cases':>9} {'failures':>9} {'ms each':>9}", *rows])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--target", action="append", default=[], choices=list(TARGETS))
    parser.add_argument("--seconds", type=float, default=float("inf"), help="take no new cases after so long")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--first", type=int, default=0, help="the number of the first case of each target")
    given = parser.parse_args()
    sys.exit(main(given.cases, given.target, given.seconds, given.jobs, given.first))
