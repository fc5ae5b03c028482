"""Claim: 100,000 scripted trials, with entity masking among their evidence, are planned, answered and stored at 10,000
a second and more, under 400 MB; a million take no more memory; reopening a finished run takes under 2 seconds. The
peer, measured in the same run, is what the disk and SQLite alone need: one INSERT per trial of a row of the same size,
committed as often.

    python benchmarks/trials_per_second.py [N_TRIALS ...]
"""

import json
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from machine import describe

STUDY = """
name = "trials"
seed = 1
[dataset]
name = "builtin"
limit = 60
[cross]
models = ["scripted(replies=('Paris', 'London', 'It is not known.'))"]
perturbations = ["unchanged", "sentence_replacement", "sentence_removal", "entity_masking"]
temperatures = {{ from = 0.0, to = 2.0, step = 0.2 }}
repeats = {repeats}
"""
CELLS = 60 * 4 * 11
SIZES = [100_000, 1_000_000]


def child(folder: str) -> None:
    """One go at the study, in a process of its own so that its memory is its own."""
    start = time.perf_counter()
    from shaketable.stages.answer import answer
    from shaketable.stages.plan import plan
    from shaketable.store import Run
    from shaketable.study import load_study

    imported, used = time.perf_counter(), time.process_time()
    study = load_study(Path(folder, "study.toml"))
    planned = plan(study)
    run = Run.prepare(Path(folder, "run"), study)
    with run.writing() as store:
        done = answer(planned, store)
    end = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        json.dumps(
            {
                "seconds": end - imported,
                "with_imports": end - start,
                "processor_seconds": time.process_time() - used,
                "peak_mb": peak,
                "new": done.n_done,
            }
        )
    )


def plain_sqlite(folder: str) -> float:
    """The peer: bare rows of the same size into a bare table."""
    source = sqlite3.connect(Path(folder, "run", "records.sqlite"))
    cursor = source.execute("SELECT * FROM records")
    n_columns = len(cursor.description)
    bare = sqlite3.connect(Path(folder, "bare.sqlite"), isolation_level=None)
    bare.execute("PRAGMA journal_mode = WAL")
    bare.execute("PRAGMA synchronous = NORMAL")
    others = "".join(f", column_{i}" for i in range(n_columns - 2))
    bare.execute(f"CREATE TABLE records (id INTEGER PRIMARY KEY, key TEXT UNIQUE{others})")
    seconds = 0.0
    while rows := cursor.fetchmany(512):
        start = time.perf_counter()
        bare.execute("BEGIN")
        bare.executemany(f"INSERT INTO records VALUES ({', '.join('?' * n_columns)})", rows)
        bare.execute("COMMIT")
        seconds += time.perf_counter() - start
    return seconds


def measure(n_trials: int) -> tuple[int, float]:
    """Trials there were, and the peak memory in MB."""
    repeats = -(-n_trials // CELLS)
    n_trials = repeats * CELLS
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "study.toml").write_text(STUDY.format(repeats=repeats))
        command = [sys.executable, __file__, "child", folder]
        first, second = (json.loads(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(2))
        bare = plain_sqlite(folder)
    assert first["new"] == n_trials and second["new"] == 0
    print(
        f"{n_trials:,} trials: {n_trials / first['seconds']:,.0f} a second "
        f"({n_trials / first['processor_seconds']:,.0f} a second of one processor), "
        f"peak memory {first['peak_mb']:.0f} MB"
    )
    print(f"  reopening the finished run: {second['seconds']:.2f} s ({second['with_imports']:.2f} s with imports)")
    print(f"  ratio of time to bare SQLite inserts of the same rows: {first['seconds'] / bare:.1f}")
    return n_trials, first["peak_mb"]


def main(sizes: list[int]) -> None:
    for (fewer, small), (more, large) in pairwise([measure(n_trials) for n_trials in sizes]):
        print(f"memory of {more:,} trials against {fewer:,}: {large / small:.2f} times ({large - small:+.0f} MB)")
    print(describe())


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(sys.argv[2])
    else:
        main([int(n) for n in sys.argv[1:]] or SIZES)
