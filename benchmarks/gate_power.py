"""Claim: the gate closes on a drop of .1 with 200 questions 19 times in 20, and lets a re-run pass as often.

    python benchmarks/gate_power.py [--draws N] [--jobs N]

Simulated systems with a base of 70 % right answers. `passes`: the same system asked again. `closes`: a release that
loses 10 points. Lines without a bound are beyond the promise, and say where it ends. With 400 draws it takes about ten
minutes of processor time.
"""

from __future__ import annotations

import argparse
import os
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

os.environ.setdefault("POLARS_MAX_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from known_truth.releases import Release, cases
from known_truth.rows import Row, format_table
from machine import describe


def main(n_draws: int, n_jobs: int) -> None:
    start = time.perf_counter()
    with ProcessPoolExecutor(n_jobs, mp_context=get_context("spawn")) as pool:
        measured = list(pool.map(run, [(case, n_draws) for case in cases()]))
    rows = sorted((row for rows in measured for row in rows), key=lambda row: row.part)
    print(format_table(rows))
    n_failed = sum(row.verdict == "NOT" for row in rows)
    print(f"{n_failed} of {len(rows)} do not hold; {time.perf_counter() - start:.0f} s; {describe()}")


def run(job: tuple[Release, int]) -> list[Row]:
    case, n_draws = job
    return case.run(range(n_draws))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=400, help="pairs of releases for each line")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes; one for each core")
    given = parser.parse_args()
    main(given.draws, given.jobs)
