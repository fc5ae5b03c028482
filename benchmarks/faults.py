"""Claim: a run that is killed loses, doubles and changes no record, wherever it was; killed every few seconds it still
ends, also with a method of many calls and a model that takes seconds for each; and `verify` finds every flipped bit of
a finished run that changes what is read of it.

    python benchmarks/faults.py [kills] [calls] [often] [often-busy] [often-cold] [flips]

`kills`: at random moments, over methods and models. `calls`: when a chosen system call is made on a run's files (needs
strace). `often`: DRAGIN on the embedded model, killed five seconds after each start, once libraries are imported;
`often-busy`: after five seconds of its processor, where others use the machine too; `often-cold`: the command as people
type it, killed ten seconds after it was typed, half of which it takes to import libraries. `flips`: a thousand.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import multiprocessing
import multiprocessing.process
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from machine import describe

sys.path[:0] = [str(Path(__file__).parents[1] / "tests"), str(Path(__file__).parents[1] / "tests" / "helpers")]

from faults import killing, test_flips  # noqa: E402
from faults.test_kills import KINDS, STUDY  # noqa: E402
from limited_endpoint import limited  # noqa: E402
from made_studies import row, write_rows  # noqa: E402
from tiny_letters import write_letters  # noqa: E402

from shaketable.stages.run import ask  # noqa: E402
from shaketable.store.drafts import load_drafts  # noqa: E402
from shaketable.study import load_study  # noqa: E402
from shaketable.text.language import import_spacy  # noqa: E402

MOST_KILLS = 200
N_KILLS = 40
"""Of each kind, at random moments."""
EVERY_SECONDS = 5.0
EVERY_COLD_SECONDS = 10.0
DRAGIN = """
name = "often"
seed = 3
[dataset]
name = "builtin"
limit = 6
[cross]
models = ["smollm2"]
methods = ["dragin"]
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
        for n, name in enumerate((*KINDS, "an endpoint")):
            whole, total = killing.answer_whole(made[name], folder / f"whole{n}"), killing.Toll()
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


def kill_often(folder: Path, *, is_busy: bool = False) -> None:
    importlib.import_module("shaketable.engine.load")  # Libraries take seconds, and nothing of it is the run's.
    import_spacy()
    context = multiprocessing.get_context("fork")

    def go(study: Path, run: Path) -> int | None:
        process = context.Process(target=ask, args=(load_study(study), run))
        process.start()
        wait(process, is_busy=is_busy)
        if (code := process.exitcode) is None:
            process.kill()
        process.join()
        return code

    kill_until_it_ends(folder, go, f"{EVERY_SECONDS:g} s{' of processor' if is_busy else ''}")


def kill_often_cold(folder: Path) -> None:
    def go(study: Path, run: Path) -> int | None:
        words = killing.command("answer", killing.prepared(study, run))
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            return process.wait(EVERY_COLD_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return None

    kill_until_it_ends(folder, go, f"{EVERY_COLD_SECONDS:g} s, imports and all")


def kill_until_it_ends(folder: Path, go: Callable[[Path, Path], int | None], every: str) -> None:
    """`go`: one go at a run; its exit code, or None where it was killed."""
    study, run = folder / "often.toml", folder / "run"
    study.write_text(DRAGIN)
    start, n_kills, code = time.perf_counter(), 0, None
    while code is None and n_kills < MOST_KILLS:
        if (code := go(study, run)) is None:
            n_kills += 1
            print(f"  kill {n_kills}: {progress(run)}", flush=True)
    seconds = time.perf_counter() - start
    whole = killing.answer_whole(study, folder / "whole")
    different = [key for key, record in killing.stored(run).items() if record != whole[key]]
    end = "did not end" if code is None else f"ended with {code}"
    print(
        f"DRAGIN on the embedded model, killed every {every}: {end} after {n_kills} kills and {seconds:.0f} s; "
        f"{progress(run)}, {len(different)} of {len(whole)} records differ from those of a run that was left alone",
        flush=True,
    )


def progress(run: Path) -> str:
    try:
        with contextlib.closing(sqlite3.connect(run / "records.sqlite")) as connection:
            n_records, n_kept = (
                connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] for table in ("records", "underway")
            )
    except sqlite3.Error:
        return "nothing stored yet"
    n_tokens = sum(len(kept.draft.token_ids) for kept in load_drafts(run).values())
    return f"{n_records} records, {n_kept} replies of trials under way and {n_tokens} tokens of others kept"


def flip(folder: Path) -> None:
    sound = test_flips.make_run(folder / "sound")
    n_changed = n_found = 0
    for seed in range(10):
        changed, found = test_flips.judge(sound, folder / "flipped" / "run", 100, seed=100 + seed, every=4)
        n_changed, n_found = n_changed + changed, n_found + found
        print(f"  {100 * (seed + 1)} flips: {n_changed} changed what is read, {n_found} of them found", flush=True)
    print(f"1,000 flips: {n_changed} changed what is read, {n_found} found by verify, no traceback in any command")


ALL = {"kills": kill_at_random, "calls": kill_at_calls, "often": kill_often, "flips": flip}
OTHERS = {"often-busy": functools.partial(kill_often, is_busy=True), "often-cold": kill_often_cold}


if __name__ == "__main__":
    for name in sys.argv[1:] or ALL:
        with tempfile.TemporaryDirectory() as temporary:
            (ALL | OTHERS)[name](Path(temporary))
    print(describe())
