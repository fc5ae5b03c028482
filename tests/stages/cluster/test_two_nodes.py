"""A real cluster of two nodes on this machine: records are those of a local run, also when a node is killed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from made_studies import answered, small_study
from slow_parts import write_package
from two_nodes import two_nodes, wait_for

from shaketable import catalog
from shaketable.errors import RunError
from shaketable.stages.answer import answer
from shaketable.stages.cluster.executor import Ray
from shaketable.stages.cluster.ray_crew import RayCrew
from shaketable.stages.plan import plan
from shaketable.store import RecordStore


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    """Two nodes with one CPU each, on which a package with the model `slow` is installed, as it is here."""
    package = write_package(tmp_path_factory.mktemp("package"))
    sys.path.insert(0, str(package))
    catalog._installed.cache_clear()
    with two_nodes(str(package)) as nodes, nodes.connected():
        nodes.n_loaded = lambda: len(list(package.glob("loaded-*")))
        yield nodes
    sys.path.remove(str(package))
    sys.modules.pop("slow_model", None)
    catalog._installed.cache_clear()


def study_of_500(folder: Path):
    """25 questions x 2 kinds of evidence x 2 temperatures x 5 repeats."""
    return small_study(folder, 25, models=["slow"], perturbations=["unchanged", "sentence_removal"], repeats=5)


def spread(study, path: Path, nodes, progress=lambda tick: None, **settings):
    with RecordStore(path) as store:
        result = answer(plan(study), store, progress, executor=Ray(address=nodes.address, **settings))
        return result, {record.trial.key: record for record in store.records()}


def compared(records):
    """All but the process that answered."""
    return {key: (r.trial, r.answer, r.failure, r.trace, r.cost) for key, r in records.items()}


@pytest.mark.slow
def test_records_are_those_of_a_local_run_also_when_a_node_is_killed_at_half(tmp_path, nodes):
    study = study_of_500(tmp_path)
    _, expected = answered(study, tmp_path / "here")
    n_loaded = nodes.n_loaded()

    def kill_at_half(tick):
        wait_for(lambda: nodes.n_loaded() >= n_loaded + 2)  # Both have their share before half is done.
        if tick.n_done >= 250 and nodes.other is not None:
            nodes.kill_other()

    result, records = spread(study, tmp_path / "spread", nodes, kill_at_half)
    assert nodes.other is None
    assert (result.n_done, result.n_failed) == (500, 0)
    assert compared(records) == compared(expected)
    processes = {record.environment["process"] for record in records.values()}
    assert len(processes) == 2
    assert os.getpid() not in processes


def test_a_worker_that_no_node_has_room_for_is_refused(tmp_path, nodes):
    study = small_study(tmp_path)
    with pytest.raises(RunError, match=r"No node .* a worker of 64 CPUs: the largest has 1 CPUs and 0 GPUs"):
        spread(study, tmp_path / "spread", nodes, worker_cpus=64)


def test_a_run_that_waits_for_room_says_what_for(tmp_path, nodes, monkeypatch, caplog):
    """As where another run uses all CPUs: the wait is told until somebody ends it."""
    monkeypatch.setattr("shaketable.stages.cluster.ray_crew.QUIET_SECONDS", 0.0)
    study = small_study(tmp_path)

    def ended(self):
        told(self)
        if "waiting for" in caplog.text:
            raise KeyboardInterrupt

    told = RayCrew._tell_waiting
    monkeypatch.setattr(RayCrew, "_tell_waiting", ended)
    with caplog.at_level("INFO"), pytest.raises(KeyboardInterrupt):
        spread(study, tmp_path / "spread", nodes, workers=1, worker_cpus=64)
    assert "waiting for a node with room for a worker of 64 CPUs: the cluster has" in caplog.text
