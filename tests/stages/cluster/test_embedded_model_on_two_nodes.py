"""The embedded model on a real cluster of two nodes: 500 trials, a node killed at half, a driver killed midway."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from two_nodes import two_nodes, wait_for

from shaketable.errors import StoreError
from shaketable.store import RecordStore, Run
from shaketable.study import parse_study
from shaketable.types import Completion, Record

pytestmark = [pytest.mark.slow, pytest.mark.weights]

N_TRIALS = 500
STUDY = """
name = "cluster"
seed = 5
[dataset]
name = "builtin"
limit = 25
[cross]
models = ["smollm2"]
perturbations = ["unchanged", "sentence_removal"]
temperatures = [0.0, 1.0]
repeats = 5
[generation]
max_tokens = 12
[score]
metrics = ["correct"]
"""
CALL = "from shaketable.cli import main; main()"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(scope="module")
def expected(folder) -> dict[str, object]:
    assert start(folder, "here").wait() == 0
    return records(folder, "here")


@pytest.fixture
def nodes():
    with two_nodes() as made:
        with made.connected():
            pass
        yield made


@pytest.fixture
def spread(folder, nodes):
    """Starts the command on the cluster; what still runs at the end is ended."""
    begun = []

    def go(out: str) -> subprocess.Popen[bytes]:
        options = ("--executor", "ray", "--address", nodes.address, "--workers", "2")
        begun.append(start(folder, out, *options))
        return begun[-1]

    yield go
    for running in begun:
        running.kill()


def start(folder: Path, out: str, *options: str) -> subprocess.Popen[bytes]:
    """The command, with one thread as each node has one CPU."""
    Run.prepare(folder / out, parse_study(tomllib.loads(STUDY), "test"))
    command = [sys.executable, "-c", CALL, "answer", str(folder / out), *options]
    return subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, start_new_session=True)


def records(folder: Path, out: str) -> dict[str, object]:
    """All that is stored but the seconds; the environment too."""
    with RecordStore(folder / out / "records.sqlite", read_only=True) as store:
        return {record.trial.key: timeless(record) for record in store.records()}


def timeless(record: Record) -> Record:
    events = [
        replace(event, reply=replace(event.reply, seconds=0.0)) if isinstance(event.reply, Completion) else event
        for event in record.trace
    ]
    return replace(record, trace=tuple(events), cost=replace(record.cost, seconds=0.0))


def n_stored(folder: Path, out: str) -> int:
    try:
        with RecordStore(folder / out / "records.sqlite", read_only=True) as store:
            return store.n_finished()
    except StoreError:  # Nothing was written yet.
        return 0


def half_is_stored(folder: Path, out: str) -> Callable[[], bool]:
    return lambda: n_stored(folder, out) >= N_TRIALS / 2


def test_records_are_those_of_a_local_run(folder, expected, spread):
    assert spread("both").wait() == 0
    assert len(expected) == N_TRIALS
    assert records(folder, "both") == expected


def test_a_node_that_is_killed_at_half_loses_nothing(folder, expected, nodes, spread):
    running = spread("one_left")
    wait_for(half_is_stored(folder, "one_left"), 300)
    nodes.kill_other()
    assert n_stored(folder, "one_left") < N_TRIALS
    assert running.wait() == 0
    assert records(folder, "one_left") == expected


def test_a_driver_that_is_killed_is_resumed_without_loss(folder, expected, spread):
    running = spread("resumed")
    wait_for(half_is_stored(folder, "resumed"), 300)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    kept = records(folder, "resumed")
    assert N_TRIALS / 2 <= len(kept) < N_TRIALS
    assert spread("resumed").wait() == 0
    assert records(folder, "resumed") == expected
    assert all(expected[key] == record for key, record in kept.items())
