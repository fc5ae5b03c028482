"""What a worker declares, and what is told of one that is gone."""

from __future__ import annotations

import pytest

from shaketable import catalog
from shaketable.stages.cluster.executor import Ray
from shaketable.stages.cluster.ray_crew import Size, _size, _why

NODES = [{"CPU": 0.0}, {"CPU": 8.0, "GPU": 2.0}, {"CPU": 3.0}]


@pytest.mark.parametrize(
    ("model", "settings", "size"),
    [
        ("scripted", {}, Size(1, 0)),
        ("transformers(path='x', device='cuda')", {}, Size(1, 1)),
        ("transformers(path='x', device='cuda')", {"worker_gpus": 2, "worker_cpus": 4}, Size(4, 2)),
        ("smollm2", {"worker_cpus": 2}, Size(2, 0)),
    ],
)
def test_a_worker_declares_what_its_model_computes_with(model, settings, size):
    assert _size(Ray(**settings), catalog.build("model", model), NODES) == size


@pytest.mark.parametrize(("threads", "cpus"), [(6, 6), (12, 8)])
def test_a_worker_has_the_threads_of_a_local_run_as_far_as_a_node_has_them(monkeypatch, threads, cpus):
    monkeypatch.setattr("torch.get_num_threads", lambda: threads)
    assert _size(Ray(), catalog.build("model", "smollm2"), NODES) == Size(cpus, 0)


@pytest.mark.parametrize(
    ("size", "fitting"),
    [(Size(1, 0), [0, 8, 3]), (Size(2, 0), [0, 4, 1]), (Size(1, 1), [0, 2, 0]), (Size(1, 0.5), [0, 4, 0])],
)
def test_as_many_workers_fit_as_cpus_and_gpus_allow(size, fitting):
    assert [size.n_fitting(node) for node in NODES] == fitting


def test_of_a_death_its_reason_is_told():
    told = """The actor died unexpectedly before finishing this task.
	class_name: Worker
	actor_id: 7cee6ddb797cc8b72a73790101000000
	ip: 127.0.0.3
The actor died because its node has died. Node Id: befb0d3da93b
	the actor's node was terminated unexpectedly: health check failed"""
    reason = (
        "The actor died because its node has died. the actor's node was terminated unexpectedly: health check failed"
    )
    assert " ".join(_why(RuntimeError(told)).split()) == reason
    assert _why(StopIteration()) == "StopIteration"
