"""Claim: spreading a study over workers costs little: what a trial takes more than in one process, and what a token
does, when two nodes of one core each answer it on this machine. Two nodes of one machine cannot be faster than the
machine; the peer, measured in the same run, is a local run with as many threads as both nodes have cores.

    python benchmarks/ray_overhead.py [N_SCRIPTED_TRIALS]
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))

from machine import describe
from two_nodes import two_nodes

STUDY = """
name = "overhead"
seed = 1
[dataset]
name = "builtin"
limit = {limit}
[cross]
models = ["{model}"]
perturbations = ["unchanged", "sentence_removal"]
temperatures = [0.0, 0.5, 1.0]
repeats = {repeats}
[generation]
max_tokens = 24
"""
INSTANT = "scripted(replies=('Paris', 'London', 'It is not known.'))"


def child(folder: str, name: str, address: str) -> None:
    """One go at the study; the clock of answering begins when the first worker, or the model, is loaded."""
    from shaketable.stages.answer import answer
    from shaketable.stages.cluster.executor import Ray
    from shaketable.stages.plan import plan
    from shaketable.store import Run
    from shaketable.study import load_study

    planned = plan(load_study(Path(folder, "study.toml")))
    ticks = []
    start = time.perf_counter()
    with Run.prepare(Path(folder, name), planned.study).writing() as store:
        executor = Ray(address=address, workers=2) if address else None
        done = answer(planned, store, ticks.append, executor=executor)
    whole = time.perf_counter() - start
    print(json.dumps({"n": done.n_done, "tokens": done.n_tokens, "whole": whole, "answering": ticks[-1].seconds}))


def go(folder: str, name: str, address: str = "", threads: int = 1) -> dict[str, float]:
    command = [sys.executable, __file__, "child", folder, name, address]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure(model: str, limit: int, repeats: int, address: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "study.toml").write_text(STUDY.format(model=model, limit=limit, repeats=repeats))
        go(folder, "warm", address)  # What is proved of the model is proved, with one thread.
        spread = go(folder, "spread", address)
        local = {threads: go(folder, f"local{threads}", threads=threads) for threads in (1, 2)}
    print(f"{model.partition('(')[0]}, {spread['n']:,} trials")
    rows = {"two nodes of one core": spread} | {f"local, {n} threads": run for n, run in local.items()}
    for name, run in rows.items():
        print(
            f"  {name}: {run['n'] / run['answering']:,.0f} trials/s, {run['tokens'] / run['answering']:,.0f} tokens/s; "
            f"{run['whole'] - run['answering']:.1f} s before the first trial"
        )


def main(n_scripted: int) -> None:
    start = time.perf_counter()
    with two_nodes() as nodes:
        with nodes.connected():
            pass
        print(f"two nodes are up after {time.perf_counter() - start:.1f} s")
        measure(INSTANT, 60, n_scripted // (60 * 2 * 3), nodes.address)
        measure("smollm2", 25, 4, nodes.address)
    print(describe())


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(*sys.argv[2:])
    else:
        main(int((sys.argv[1:] or ["36000"])[0]))
