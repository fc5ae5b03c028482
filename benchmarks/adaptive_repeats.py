"""Claim: intervals over repeats hold the truth at every repeat, so stopping by them is sound, and saves most calls.

    python benchmarks/adaptive_repeats.py [--systems N] [--jobs N] [--model]

Simulated systems, whose chance to answer each question right is known. `always`: the 95 % interval over repeats held
the truth at every one of 50 repeats; `at stop`: where it was stopped. `repeats`: the median of what was asked, of 50;
`knowing`: what a plain 95 % interval of that width takes of somebody who fixes the number beforehand and knows how much
each question varies; `cautious`: of somebody who knows the mean alone. Then what stopping does to the interval over
questions that a report tells. `--model`: the embedded model, on the built-in questions. About 3 minutes on two cores.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

os.environ.setdefault("POLARS_MAX_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from known_truth.repeated_systems import SHAPES, Walk, interval_over_questions, walk
from machine import describe

MOST = 50
CASES = [(shape, n, 0.05, 0.0) for n in (8, 24, 100) for shape in SHAPES] + [
    *((shape, 200, 0.03, 0.0) for shape in SHAPES),
    ("mixed: beta(.3, .2)", 24, 0.05, 0.2),
]
"""Shape, questions, half of the width, share of answers that fail."""
POPULATIONS = {"mixed: beta(.3, .2)": 0.6, "nearly fixed: beta(.1, .1)": 0.5, "even: beta(1, 1)": 0.5}
"""Shapes whose questions are drawn from many, and the mean over all of them."""


def simulate(job: tuple[tuple[str, int, float, float], range]) -> list[Walk]:
    (shape, n, until, missing), seeds = job
    draws = [np.random.default_rng([n, seed, len(shape)]) for seed in seeds]
    return [walk(SHAPES[shape](rng, n), until, rng, MOST, missing) for rng in draws]


def covers(job: tuple[str, int, range]) -> list[tuple[bool, bool, int]]:
    """Of the interval over questions: with repeats that ended of themselves, and with as many fixed beforehand."""
    shape, n, seeds = job
    held = []
    for seed in seeds:
        rng = np.random.default_rng([7, n, seed])
        chances = SHAPES[shape](rng, n)
        ended = walk(chances, 0.05, rng, MOST).answers
        fixed = (rng.random(ended.shape) < chances).astype(np.float64)
        intervals = [interval_over_questions(answers, seed) for answers in (ended, fixed)]
        ended_holds, fixed_holds = (low <= POPULATIONS[shape] <= high for low, high in intervals)
        held.append((ended_holds, fixed_holds, len(ended)))
    return held


def ask_model(until: float, limit: int) -> None:
    """What the embedded model is asked, and what it would be asked with all repeats."""
    import shaketable

    study = shaketable.load_study(
        "demo",
        [
            'cross.methods=["closed_book", "single_retrieval"]',
            'cross.perturbations=["unchanged"]',
            "cross.temperatures=[0.0, 0.6, 1.2]",
            f"cross.repeats={{ until = {until}, max = {MOST} }}",
            "generation.max_tokens=12",
            'analyze.analyses=["correctness"]',
            'score.metrics=["correct"]',
        ],
        limit=limit,
    )
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        repeats = shaketable.run(study, f"{folder}/run").summary().repeats
    assert repeats is not None
    for cell in repeats.cells:
        interval = "" if cell.low is None or cell.high is None else f"[{cell.low:.3f}, {cell.high:.3f}]"
        print(f"{cell.method:18} temperature {cell.temperature:.1f}: {cell.n_repeats:3d} repeats  {interval}")
    print(
        f"smollm2, {limit} questions, ±{until:g}: asked {repeats.n_asked:,} of {repeats.n_most:,} "
        f"({100 * repeats.saved:.0f} % saved), {repeats.n_narrow} of {len(repeats.cells)} reached, "
        f"{time.perf_counter() - start:.0f} s"
    )


def main(n_systems: int, n_jobs: int) -> None:
    start = time.perf_counter()
    jobs = [(case, range(at, min(at + 50, n_systems))) for case in CASES for at in range(0, n_systems, 50)]
    drawn = [(name, n, range(at, at + 50)) for name in POPULATIONS for n in (24, 100) for at in range(0, n_systems, 50)]
    with ProcessPoolExecutor(n_jobs, mp_context=get_context("spawn")) as pool:
        walks = list(pool.map(simulate, jobs))
        held = list(pool.map(covers, drawn))
    print(
        f"{n_systems} systems a line             questions  until  always  at stop  reached  repeats  knowing  cautious"
    )
    for case in CASES:
        own = [walk for job, done in zip(jobs, walks, strict=True) for walk in done if job[0] == case]
        shares = [100 * np.mean([getattr(walk, name) for walk in own]) for name in HELD]
        medians = [np.median([getattr(walk, name) for walk in own]) for name in ("n_repeats", "n_fixed", "n_cautious")]
        shape, n, until, missing = case
        name = shape if not missing else f"{shape}, {100 * missing:.0f} % fail"
        told = "  ".join(f"{share:5.1f} %" for share in shares)
        print(f"{name:36} {n:6d}  ±{until:4.2f}  {told}  {medians[0]:5.0f}  {medians[1]:7.1f}  {medians[2]:7.1f}")
    for name in POPULATIONS:
        for n in (24, 100):
            own = [one for job, done in zip(drawn, held, strict=True) for one in done if job[:2] == (name, n)]
            ended, fixed, repeats = (float(np.mean(column)) for column in zip(*own, strict=True))
            print(
                f"interval over questions, {name}, {n} questions, {repeats:.1f} repeats on average: holds "
                f"{100 * ended:.1f} % where they ended of themselves, {100 * fixed:.1f} % of as many fixed ones"
            )
    print(f"{time.perf_counter() - start:.0f} s with {n_jobs} processes; {describe()}")


HELD = ("holds_always", "holds_at_stop", "is_narrow")

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", type=int, default=200, help="simulated systems for each line")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes; one for each core")
    parser.add_argument("--model", action="store_true", help="ask the embedded model instead")
    given = parser.parse_args()
    if given.model:
        ask_model(0.1, 12)
    else:
        main(given.systems, given.jobs)
