"""Runs that are killed: at random moments, at chosen system calls, by a signal that asks nicely, again and again."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from shaketable.stages.run import ask
from shaketable.store import RecordStore
from shaketable.study import load_study
from shaketable.types import Record

SYSTEM_CALLS = ("pwrite64", "fdatasync", "ftruncate", "rename", "unlink", "openat", "fcntl", "mmap", "close", "lseek")
"""What the files of a run are read and written with."""
FILES = (
    *("records.sqlite", "records.sqlite-wal", "records.sqlite-shm", "records.sqlite-journal"),
    *("study.toml", "seal.sha256", "records.seal"),
)
ANY_FAILURES = ("--max-failures", "100%")


@dataclass
class Toll:
    """What kills did to a run."""

    n_kills: int = 0
    n_goes: int = 0
    lost: list[str] = field(default_factory=list)
    """Keys that were stored before a kill and not after it."""
    different: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Keys of the plan that are not there at the end."""

    @property
    def is_nothing(self) -> bool:
        return not (self.lost or self.different or self.doubled or self.missing)


def stored(folder: Path) -> dict[str, Record]:
    """Its records by key, seconds left out; none before the first was stored."""
    path = folder / "records.sqlite"
    if not path.exists() or not path.stat().st_size:
        return {}
    with RecordStore(path) as store:  # As the next go opens it: SQLite mends what was left.
        return {record.trial.key: without_seconds(record) for record in store.records()}


def without_seconds(record: Record) -> Record:
    events = tuple(
        dataclasses.replace(event, reply=dataclasses.replace(event.reply, seconds=0.0))
        if event.reply is not None and "seconds" in {one.name for one in dataclasses.fields(event.reply)}
        else event
        for event in record.trace
    )
    return dataclasses.replace(record, cost=dataclasses.replace(record.cost, seconds=0.0), trace=events)


def count_doubled(folder: Path) -> list[str]:
    with RecordStore(folder / "records.sqlite", read_only=True) as store:
        return [key for key, n in store.rows("SELECT key, COUNT(*) FROM records GROUP BY key") if n > 1]


def note_toll(toll: Toll, folder: Path, before: dict[str, Record], whole: dict[str, Record]) -> dict[str, Record]:
    """Look at a run after a kill."""
    now = stored(folder)
    toll.lost += [key for key in before if key not in now]
    toll.different += [key for key, record in now.items() if record != whole[key]]
    return now


# --- a process that was forked: nothing is imported anew --------------------------------------------------------------


def _go(study: str, folder: str, ready: multiprocessing.synchronize.Event) -> None:
    os.setsid()
    ready.set()
    ask(load_study(study), folder)


def kill_at_random(study: Path, folder: Path, whole: dict[str, Record], n_kills: int, most_seconds: float) -> Toll:
    """Kill a run again and again at random moments; begin anew where it was finished before."""
    toll, rng, context = Toll(), random.Random(n_kills), multiprocessing.get_context("fork")
    before: dict[str, Record] = {}
    while toll.n_kills < n_kills:
        ready = context.Event()
        process = context.Process(target=_go, args=(str(study), str(folder), ready))
        process.start()
        ready.wait()
        process.join(rng.uniform(0.0, most_seconds))
        toll.n_goes += 1
        if process.exitcode is None:
            process.kill()
            toll.n_kills += 1
        process.join()
        before = note_toll(toll, folder, before, whole)
        if len(before) == len(whole):
            toll.doubled += count_doubled(folder)
            shutil.rmtree(folder)
            before = {}
    ask(load_study(study), folder)
    now = note_toll(toll, folder, before, whole)
    toll.missing += [key for key in whole if key not in now]
    toll.doubled += count_doubled(folder)
    return toll


# --- a process of its own, as people start it -------------------------------------------------------------------------


def command(*words: str | Path) -> list[str]:
    return [sys.executable, "-c", "from shaketable.cli import main; main()", *map(str, words)]


def kill_at_call(study: Path, folder: Path, whole: dict[str, Record], call: str, number: int) -> Toll:
    """Kill a run when it makes a system call on its files for the nth time, then let it end."""
    shutil.rmtree(folder, ignore_errors=True)
    # Of a file that gets another name strace compares the name that it had, and nothing else here is renamed.
    files = [] if call == "rename" else [folder / name for name in FILES]
    tracing = ["strace", "-qq", "-f", "-o", "/dev/null", *(word for file in files for word in ("-P", str(file)))]
    inject = ["-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number}"]
    killed = subprocess.run(
        [*tracing, *inject, *command("answer", prepared(study, folder))],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    toll = Toll(n_kills=int(killed.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)), n_goes=1)
    before = note_toll(toll, folder, {}, whole)
    subprocess.run(command("answer", prepared(study, folder), *ANY_FAILURES), capture_output=True, check=True)
    now = note_toll(toll, folder, before, whole)
    toll.missing += [key for key in whole if key not in now]
    toll.doubled += count_doubled(folder)
    return toll


def answer_whole(study: Path, folder: Path) -> dict[str, Record]:
    """The records of a command that is left alone: it notes what it saw of an endpoint before it asks, as a call from
    Python does not."""
    subprocess.run(command("answer", prepared(study, folder), *ANY_FAILURES), capture_output=True, check=True)
    return stored(folder)


def prepared(study: Path, folder: Path) -> Path:
    if not (folder / "study.toml").exists():
        folder.mkdir(exist_ok=True)
        shutil.copy(study, folder / "study.toml")
    return folder


@dataclass(frozen=True)
class Stopped:
    """How a command ended that was asked to stop."""

    exit_code: int
    seconds: float
    errors: str


def stop_when(words: list[str], is_so: Callable[[], bool], by: signal.Signals) -> Stopped:
    """Start a command, and ask it to stop when something is so."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while not is_so() and process.poll() is None:
        time.sleep(0.01)
    asked = time.perf_counter()
    process.send_signal(by)
    _, errors = process.communicate()
    return Stopped(process.returncode, time.perf_counter() - asked, errors)
