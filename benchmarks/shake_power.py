"""Claim: with a third of the calls of the full design, `shake` finds a planted weakness, and names none where none is.

    python benchmarks/shake_power.py [--systems N] [--jobs N]

Each line shakes so many simulated systems, by the source and the analysis that a real run has. Their accuracy is 78 %;
where they are weak it is as the line says. There are 5 wordings, 3 kinds of evidence and 2 temperatures beside the
clean ones, so the full design asks each question in 72 combinations. `found`: a way to ask that has the weakness is
named. `false`: one that has none is. Both with 95 % intervals (Clopper and Pearson). About 4 minutes on two cores.
"""

from __future__ import annotations

import argparse
import os
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

os.environ.setdefault("POLARS_MAX_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from known_truth.shaken_systems import N_CELLS, System, Weakness, accuses, finds, shake, third
from machine import describe
from scipy import stats

Case = tuple[int, float, Weakness]
PLANTED: tuple[Weakness, ...] = ("one wording", "one kind of evidence", "hot only", "one wording, hot only")
CASES: list[Case] = [
    *((120, 0.5, weakness) for weakness in (*PLANTED, "none")),
    *((60, 0.5, weakness) for weakness in (*PLANTED, "none")),
    *((30, 0.3, weakness) for weakness in (*PLANTED, "none")),
]
"""Questions, accuracy where it is weak, and where that is. The first five are what is promised."""


def count(job: tuple[Case, range]) -> tuple[int, int]:
    (n_questions, broken, weakness), seeds = job
    found = false = 0
    for seed in seeds:
        system = System(weakness=weakness, broken=broken, seed=seed)
        result = shake(system, n_questions, third(n_questions))
        found += finds(system, result)
        false += accuses(system, result)
    return found, false


def share(n: int, of: int) -> str:
    low, high = stats.binomtest(n, of).proportion_ci(0.95)
    return f"{n:4d} of {of} ({100 * n / of:5.1f} % [{100 * low:.1f}, {100 * high:.1f}])"


def main(n_systems: int, n_jobs: int) -> None:
    start = time.perf_counter()
    jobs = [(case, range(at, min(at + 20, n_systems))) for case in CASES for at in range(0, n_systems, 20)]
    with ProcessPoolExecutor(n_jobs, mp_context=get_context("spawn")) as pool:
        counted = dict(zip([(case, own.start) for case, own in jobs], pool.map(count, jobs), strict=True))
    for case in CASES:
        n_questions, broken, weakness = case
        own = [counts for (other, _), counts in counted.items() if other == case]
        found, false = (sum(column) for column in zip(*own, strict=True))
        planted = "no weakness" if weakness == "none" else f"{weakness}: 78 % -> {100 * broken:.0f} %"
        told = f"false {share(false, n_systems)}"
        if weakness != "none":
            told = f"found {share(found, n_systems)}  {told}"
        calls = f"{third(n_questions):,} of {N_CELLS * n_questions:,} calls"
        print(f"{n_questions:4d} questions, {calls}  {planted:38}  {told}")
    print(f"{time.perf_counter() - start:.0f} s with {n_jobs} processes; {describe()}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", type=int, default=200, help="simulated systems for each line")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes; one for each core")
    given = parser.parse_args()
    main(given.systems, given.jobs)
