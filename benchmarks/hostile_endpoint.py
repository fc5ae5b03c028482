"""Claim: at an endpoint that spoils 30 % of its replies (44 kinds of faults: refusals, hangs, broken or endless bodies,
bombs, wrong types, infinite numbers, keys that are repeated) a run of 20,000 trials comes to its end. Every trial is an
answer or a failure with its reason, the records are those of the server's own log, the run can be verified and scored,
no key stands in it, and memory and open files stay bounded.

    python benchmarks/hostile_endpoint.py [N_CALLS] [RATE]
"""

import os
import resource
import sys
import tempfile
import threading
import time
from pathlib import Path

from machine import describe

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))

from hostile_replies import FAULTS
from hostile_run import (
    KEYS,
    disagreements,
    invalid_json,
    leaks,
    n_answers_sent,
    n_open_files,
    outcomes,
    reasons,
    write_study,
)
from hostile_server import Log, hostile

from shaketable.stages.run import ask
from shaketable.stages.score import score
from shaketable.stages.verify import verify
from shaketable.store import RecordStore, Run
from shaketable.study import load_study

ATTEMPTS, TIMEOUT_SECONDS, CONCURRENCY = 3, 30.0, 32
"""Few at once: a body of ten megabytes comes in hundreds of pieces, with a turn of all calls between two of them, and
would be late where hundreds are under way."""
MEGABYTE = 1e6


class Watch:
    """The most files that are open at once, looked at twenty times a second."""

    def __init__(self) -> None:
        self.most_files, self._is_over = 0, threading.Event()
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        while not self._is_over.wait(0.05):
            self.most_files = max(self.most_files, n_open_files())

    def end(self) -> int:
        self._is_over.set()
        return self.most_files


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MEGABYTE


def asked_run(folder: Path, n_calls: int, rate: float) -> tuple[Run, Log, float, int]:
    with hostile(rate=rate) as server:
        limits = {"attempts": ATTEMPTS, "timeout_seconds": TIMEOUT_SECONDS, "concurrency": CONCURRENCY}
        study = write_study(folder, server.url, n_calls, **limits)
        watch, start = Watch(), time.perf_counter()
        made = ask(load_study(study), folder / "run")
        seconds = time.perf_counter() - start
        return made, server.log(), seconds, watch.end()


def tell(made: Run, log: Log) -> None:
    with RecordStore(made.records_path, read_only=True) as store:
        answered, said = outcomes(store.records()), reasons(store.records())
    n_requests = sum(len(log.by_prompt[prompt]) for prompt in answered)
    wrong = disagreements(log, answered, ATTEMPTS)
    is_equal = not wrong and sum(answered.values()) == n_answers_sent(log, answered)
    print(f"trials: {len(answered):,}; requests: {n_requests:,}, {log.n_requests - n_requests} more for the check")
    print(f"answers: {sum(answered.values()):,}; failures: {len(answered) - sum(answered.values()):,}")
    print(f"records equal to the server's log: {'yes' if is_equal else 'no: ' + '; '.join(wrong[:5])}")
    print("faults: " + ", ".join(f"{name} {n:,}" for name, n in log.by_fault.most_common()))
    print("failures by reason:")
    for reason, n in said.most_common(20):
        print(f"  {n:6,}  {reason}")


def main(n_calls: int, rate: float) -> None:
    os.environ.update(KEYS)
    before = peak_megabytes()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made, log, seconds, most_files = asked_run(folder, n_calls, rate)
        peak = peak_megabytes()
        tell(made, log)
        score(made)
        verified = verify(made)
        print(f"verify: {'sound' if not verified.problems else '; '.join(verified.problems[:5])}")
        n_leaks, n_invalid = len(list(leaks(made.folder))), len(list(invalid_json(made.folder)))
        print(f"keys found in the run: {n_leaks}; JSON that is none: {n_invalid}")
        size = sum(file.stat().st_size for file in made.folder.rglob("*") if file.is_file())
        print(f"peak memory: {peak:,.0f} MB, {before:,.0f} before; most open files: {most_files}")
        print(f"size of the run: {size / MEGABYTE:,.1f} MB")
    print(f"{seconds:,.0f} seconds, {log.n_requests / seconds:,.0f} requests a second; {len(FAULTS)} kinds of faults")
    print(describe())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000, float(sys.argv[2]) if len(sys.argv) > 2 else 0.3)
