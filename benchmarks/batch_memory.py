"""Claim: 100,000 trials in flight, in two files of 50,000 requests, take less than 1 GB more memory than 1,000 do, and
less than a millisecond each beside the endpoint. The endpoint is a server in another process that answers at once.

    python benchmarks/batch_memory.py [N_TRIALS]
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from machine import describe

from shaketable.stages.answer import answer
from shaketable.stages.plan import plan
from shaketable.store import Run
from shaketable.store.folder import batches_of
from shaketable.study import parse_study

HELPERS = Path(__file__).parents[1] / "tests" / "helpers"


def run_by_batch(url: str, n_trials: int) -> dict[str, float]:
    """Peak memory and seconds of this process, which answers so many trials."""
    study = parse_study(
        {
            "name": "batches",
            "dataset": {"name": "builtin", "limit": 20},
            "cross": {
                "models": [f"openai(model='m', base_url='{url}', batch=True, batch_poll_seconds=0.2)"],
                "methods": ["single_retrieval"],
                "temperatures": [0.5, 1.0],
                "repeats": -(-n_trials // 40),
            },
            "generation": {"max_tokens": 64},
        },
        "batches",
    )
    planned = plan(study)
    with tempfile.TemporaryDirectory() as folder:
        run = Run.prepare(Path(folder, "run"), study)
        start = time.perf_counter()
        with run.writing() as store:
            done = answer(planned, store).n_done
        seconds = time.perf_counter() - start
        states = [json.loads(path.read_text()) for path in batches_of(run.folder).rglob("state.json")]
    peak = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "done": done,
        "batches": len(states),
        "requests": sum(state["n_requests"] for state in states),
        "seconds": seconds,
        "own_seconds": peak.ru_utime + peak.ru_stime,
        "peak_mb": peak.ru_maxrss / 1024,
    }


def main(n_trials: int) -> None:
    sys.path.append(str(HELPERS))
    from batch_endpoint import BatchEndpoint

    endpoint = BatchEndpoint(states=("validating", "completed"))
    results = []
    for n in (1_000, n_trials):
        endpoint.paid.clear()
        told = subprocess.run(
            [sys.executable, __file__, "--client", endpoint.url, str(n)], capture_output=True, text=True, check=True
        ).stdout
        results.append(json.loads(told))
        print({name: round(value, 1) for name, value in results[-1].items()})
    few, many = results
    more = many["peak_mb"] - few["peak_mb"]
    n_more = many["done"] - few["done"]
    print(f"{more:,.0f} MB more for {n_more:,} more trials in flight: {more * 1e3 / n_more:.1f} kB each")
    print(f"{(many['own_seconds'] - few['own_seconds']) * 1e3 / n_more:.2f} ms of processor each")
    print(f"answered more than once: {sum(n > 1 for n in endpoint.paid.values())}")
    endpoint.close()
    print(describe())


if __name__ == "__main__":
    if sys.argv[1:2] == ["--client"]:
        print(json.dumps(run_by_batch(sys.argv[2], int(sys.argv[3]))))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
