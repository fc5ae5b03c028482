"""Claim: a run that is killed loses, doubles and changes no record, wherever it was; killed every few seconds it still
ends, also with a method of many calls and a model that takes seconds for each; and `verify` finds every flipped bit of
a finished run that changes what is read of it.

    python benchmarks/faults.py [kills] [calls] [often] [often-busy] [flips]

`kills`: at random moments, over methods and models. `calls`: when a chosen system call is made on a run's files (needs
strace). `often`: DRAGIN on the embedded model, killed each time five seconds after its weights and libraries were
loaded; `often-busy`: after five seconds of its processor, where others use the machine too. A reply that takes longer
than that cannot be kept, so its texts are short ones. `flips`: a thousand.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import multiprocessing
import multiprocessing.process
import multiprocessing.synchronize
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from machine import describe

sys.path[:0] = [str(Path(__file__).parents[1] / "tests"), str(Path(__file__).parents[1] / "tests" / "helpers")]

from faults import killing, test_flips  # noqa: E402
from faults.test_kills import KINDS, STUDY  # noqa: E402
from limited_endpoint import limited  # noqa: E402
from made_studies import row, write_rows  # noqa: E402
from tiny_letters import write_letters  # noqa: E402

from shaketable import catalog  # noqa: E402
from shaketable.stages.run import ask  # noqa: E402
from shaketable.study import load_study  # noqa: E402
from shaketable.text.language import import_spacy, pipeline  # noqa: E402

N_KILLS = 40
"""Of each kind, at random moments."""
EVERY_SECONDS = 5.0
DRAGIN = """
name = "often"
seed = 3
[dataset]
name = "builtin"
limit = 6
[cross]
models = ["smollm2"]
methods = ["dragin(max_length=24)"]
retrievers = ["bm25"]
"""


@contextlib.contextmanager
def studies(folder: Path) -> Iterator[dict[str, Path]]:
    """Several methods of several models: scripted, over the network, and one that computes."""
    questions = write_rows(folder / "questions.jsonl", [row(n) for n in range(40)])
    few = write_rows(folder / "few.jsonl", [row(n) for n in range(3)])
    letters = f"transformers(path='{write_letters(folder / 'letters')}')"
    dragin = "\"dragin(n_examples=1, max_length=12, layout='plain')\""
    with limited(latency_seconds=0.002) as server:
        endpoint = f"openai(model='stand-in', base_url='{server.url}')"
        kinds = {
            **{name: (*kind, questions) for name, kind in KINDS.items()},
            "an endpoint": (endpoint, '"single_retrieval", "query_rewrite"', 2, questions),
            "DRAGIN, a tiny model": (letters, dragin, 1, few),
        }
        made = {}
        for name, (model, methods, repeats, path) in kinds.items():
            made[name] = folder / f"{name.replace(' ', '_')}.toml"
            made[name].write_text(STUDY.format(path=path, model=model, methods=methods, repeats=repeats))
        yield made


def kill_at_random(folder: Path) -> None:
    with studies(folder) as made:
        for name, study in made.items():
            start = time.perf_counter()
            ask(load_study(study), folder / f"{study.stem}-whole")
            seconds = time.perf_counter() - start
            whole = killing.stored(folder / f"{study.stem}-whole")
            toll = killing.kill_at_random(study, folder / study.stem, whole, N_KILLS, most_seconds=seconds)
            tell(f"random moments, {name}", toll, len(whole))


def kill_at_calls(folder: Path) -> None:
    with studies(folder) as made:
        for n, name in enumerate(KINDS):
            ask(load_study(made[name]), folder / f"whole{n}")
            whole, total = killing.stored(folder / f"whole{n}"), killing.Toll()
            for call in killing.SYSTEM_CALLS:
                for number in (1, 3, 9):
                    toll = killing.kill_at_call(made[name], folder / f"run{n}", whole, call, number)
                    for field, value in vars(toll).items():
                        setattr(total, field, getattr(total, field) + value)
            tell(f"chosen system calls, {name}", total, len(whole))


def tell(name: str, toll: killing.Toll, n_trials: int) -> None:
    print(
        f"{name}: {toll.n_kills} kills in {toll.n_goes} goes at {n_trials} trials; {len(toll.lost)} lost, "
        f"{len(toll.doubled)} doubled, {len(toll.different)} different, {len(toll.missing)} missing at the end",
        flush=True,
    )


def seconds_of_processor(pid: int) -> float:
    """Of a process that runs, or 0 after its end."""
    with contextlib.suppress(OSError):
        user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    return 0.0


def wait(process: multiprocessing.process.BaseProcess, *, is_busy: bool) -> None:
    """Until the process has ended or had its time."""
    if not is_busy:
        process.join(EVERY_SECONDS)
    before = seconds_of_processor(process.pid or 0)
    while is_busy and process.exitcode is None and seconds_of_processor(process.pid or 0) - before < EVERY_SECONDS:
        process.join(0.02)


def ask_when_loaded(study: Path, run: Path, loaded: multiprocessing.synchronize.Event) -> None:
    _ = catalog.build("model", "smollm2").engine
    pipeline()
    loaded.set()
    ask(load_study(study), run)


def kill_often(folder: Path, *, is_busy: bool = False) -> None:
    study, run = folder / "often.toml", folder / "run"
    study.write_text(DRAGIN)
    importlib.import_module("shaketable.engine.load")  # Once, not in each process.
    import_spacy()
    context, start, n_kills = multiprocessing.get_context("fork"), time.perf_counter(), 0
    while True:
        loaded = context.Event()
        process = context.Process(target=ask_when_loaded, args=(study, run, loaded))
        process.start()
        loaded.wait()
        wait(process, is_busy=is_busy)
        if process.exitcode is not None:
            break
        process.kill()
        process.join()
        n_kills += 1
        print(f"  kill {n_kills}: {_progress(run)}", flush=True)
    ask(load_study(study), folder / "whole")
    differing = sum(
        record.answer != killing.stored(folder / "whole")[key].answer for key, record in killing.stored(run).items()
    )
    every = f"{EVERY_SECONDS:g} s{' of processor' if is_busy else ''}"
    print(
        f"DRAGIN on the embedded model, killed every {every}: ended with {process.exitcode} after {n_kills} kills "
        f"and {time.perf_counter() - start:.0f} s; {_progress(run)}, {differing} answers differ from those of a run "
        "that was left alone",
        flush=True,
    )


def _progress(run: Path) -> str:
    try:
        with contextlib.closing(sqlite3.connect(run / "records.sqlite")) as connection:
            n_records, n_kept = (
                connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] for table in ("records", "underway")
            )
    except sqlite3.Error:
        return "nothing stored yet"
    return f"{n_records} records, {n_kept} replies kept of trials under way"


def flip(folder: Path) -> None:
    sound = test_flips.make_run(folder / "sound")
    n_changed = n_found = 0
    for seed in range(10):
        changed, found = test_flips.judge(sound, folder / "flipped" / "run", 100, seed=100 + seed, every=4)
        n_changed, n_found = n_changed + changed, n_found + found
        print(f"  {100 * (seed + 1)} flips: {n_changed} changed what is read, {n_found} of them found", flush=True)
    print(f"1,000 flips: {n_changed} changed what is read, {n_found} found by verify, no traceback in any command")


ALL = {"kills": kill_at_random, "calls": kill_at_calls, "often": kill_often, "flips": flip}
OTHERS = {"often-busy": functools.partial(kill_often, is_busy=True)}


if __name__ == "__main__":
    for name in sys.argv[1:] or ALL:
        with tempfile.TemporaryDirectory() as temporary:
            (ALL | OTHERS)[name](Path(temporary))
    print(describe())
