"""Claim: what is said can be trusted. Studies with known truth go through the public analyses, and are counted.

    python benchmarks/honesty.py [--full] [--jobs N] [--draws N] [--part PART] [--markdown FILE]

1. `coverage`: how often nominal 95 % intervals hold the truth. 2. `claims`: studies in which nothing differs that claim
something all the same, for the analyses of each shipped study. 3. `margins`: equivalence at the margin itself, and
ceilings above the true one. 4. `power`: planted losses against exact McNemar and the paired t test.

Measured shares have their Monte-Carlo error; a verdict allows for two of them. It takes about 25 minutes of processor
time, with `--full` about five hours.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Protocol

os.environ.setdefault("POLARS_MAX_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from known_truth import intervals, margins, nothing, power
from known_truth.rows import Row, format_markdown, format_table, merge
from machine import describe

PARTS = {"coverage": intervals.cases, "claims": nothing.cases, "margins": margins.cases, "power": power.cases}
AT_ONCE = 5
"""Whole studies that one process draws, before it takes the next."""


class Case(Protocol):
    @property
    def n(self) -> int:
        """Questions."""

    @property
    def slowness(self) -> int:
        """How many times fewer draws than the others it gets, because it takes long."""

    def run(self, draws: range) -> list[Row]: ...


Job = tuple[Case, range]


def main(parts: Sequence[str], n_draws: int, n_jobs: int, *, full: bool, markdown: Path | None) -> None:
    start = time.perf_counter()
    jobs = [job for part in parts for case in PARTS[part](full=full) for job in split(case, n_draws)]
    rows = run(jobs, n_jobs)
    print(format_table(rows))
    if markdown:
        markdown.write_text(format_markdown(rows) + "\n", encoding="utf-8")
    n_failed, seconds = sum(row.verdict == "NOT" for row in rows), time.perf_counter() - start
    print(f"{n_failed} of {len(rows)} do not hold; {seconds:.0f} s with {n_jobs} processes; {describe()}")


def run(jobs: Sequence[Job], n_jobs: int) -> list[Row]:
    """In their order, though the longest are begun first."""
    with ProcessPoolExecutor(n_jobs, mp_context=get_context("spawn")) as pool:
        order = sorted(range(len(jobs)), key=lambda i: -jobs[i][0].slowness * jobs[i][0].n)
        futures = {i: pool.submit(_run, jobs[i]) for i in order}
        for done, future in enumerate(as_completed(futures.values()), 1):
            for row in future.result():
                print(f"{done}/{len(jobs)}", *row.cells, sep="  ", file=sys.stderr)
        return merge(row for i in range(len(jobs)) for row in futures[i].result())


def split(case: Case, n_draws: int) -> list[Job]:
    """Whole studies take long, so that several processes draw them."""
    own = max(n_draws // case.slowness, AT_ONCE)
    if not isinstance(case, nothing.Nothing | power.PowerInFamily):
        return [(case, range(own))]
    return [(case, range(start, min(start + AT_ONCE, own))) for start in range(0, own, AT_ONCE)]


def _run(job: Job) -> list[Row]:
    case, draws = job
    return case.run(draws)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="more situations, and more draws")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes; one for each core")
    parser.add_argument("--draws", type=int, help="studies for each line, fewer where they take long")
    parser.add_argument("--part", action="append", choices=PARTS, help="one part alone; may be repeated")
    parser.add_argument("--markdown", type=Path, help="where to write the same as a page shows it")
    given = parser.parse_args()
    n_draws = given.draws or (2000 if given.full else 300)
    main(given.part or list(PARTS), n_draws, given.jobs, full=given.full, markdown=given.markdown)
