"""Claim: the explorer answers a filter over 400,000 records in under 300 ms, without loading the run into memory.

python benchmarks/explorer_speed.py [N_RECORDS] [FOLDER]
"""

import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

from large_run import make_run
from machine import describe

from shaketable.store import Run
from shaketable.store.explore import Explorer
from shaketable.store.selection import Selection

ASKED = {
    "everything": Selection(),
    "one factor": Selection(factors={"perturbation": "sentence_removal"}),
    "four factors": Selection(
        factors={"perturbation": "unchanged", "temperature": "0.4", "type": "bridge", "repeat": "1"}
    ),
    "sorted by a score": Selection(sort="token_f1", is_descending=True),
    "filtered and sorted": Selection(factors={"perturbation": "sentence_removal"}, sort="token_f1"),
    "words": Selection(words="River 77"),
    "words of all records": Selection(words="river"),
    "words, sorted": Selection(words="as far as", sort="token_f1", is_descending=True),
    "a page far behind": Selection(sort="token_f1", offset=200_000),
    "one question": Selection(question_id="q00077"),
}


def main(n_records, folder):
    start = time.perf_counter()
    run = Run(folder) if (folder / "study.toml").is_file() else make_run(folder, n_records)
    size = run.records_path.stat().st_size
    print(f"run: {size / 1e6:,.0f} MB, made in {time.perf_counter() - start:.0f} s")
    explorer = Explorer(run)
    start = time.perf_counter()
    n = explorer.find(Selection()).n
    print(f"index of {n:,} records: {time.perf_counter() - start:.1f} s, once")
    worst = 0.0
    for name, selection in ASKED.items():
        times = []
        for _ in range(5):
            start = time.perf_counter()
            found = explorer.find(selection)
            times.append(time.perf_counter() - start)
        worst = max(worst, statistics.median(times))
        print(f"{name:20} {1000 * statistics.median(times):6.0f} ms  {found.n:>9,} records")
    start = time.perf_counter()
    explorer.questions("contains")
    explorer.cells("q00077", "contains")
    print(f"questions by mean, and the grid of one: {1000 * (time.perf_counter() - start):.0f} ms")
    explorer.close()
    print(f"slowest median: {1000 * worst:.0f} ms; peak memory of this process: "
          f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")  # fmt: skip
    print(describe())


if __name__ == "__main__":
    n_records = int(sys.argv[1]) if len(sys.argv) > 1 else 400_000
    if len(sys.argv) > 2:
        main(n_records, Path(sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(n_records, Path(temporary) / "run")
