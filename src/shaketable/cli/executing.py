"""Options that say where trials are answered."""

from __future__ import annotations

import dataclasses
import enum
import itertools
from typing import Annotated

import typer

from shaketable.errors import UsageError
from shaketable.stages.cluster.executor import Ray


class Executor(enum.StrEnum):
    local = "local"
    ray = "ray"


ExecutorOption = Annotated[
    Executor, typer.Option("--executor", help="Where models are asked: in this process, or on a cluster of Ray.")
]
AddressOption = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="HOST:PORT",
        help="Of a Ray cluster's head node; without it the one on this machine, or one that is started for the run.",
    ),
]
WorkersOption = Annotated[
    int | None, typer.Option("--workers", min=1, metavar="N", help="Workers on the cluster; without it as many as fit.")
]
WorkerCpusOption = Annotated[
    int | None, typer.Option("--worker-cpus", min=1, metavar="N", help="CPUs of each worker, and its threads.")
]
WorkerGpusOption = Annotated[
    float | None,
    typer.Option("--worker-gpus", min=0.0, metavar="N", help="GPUs of each worker; 1 for a local model on cuda."),
]


def executor_of(
    name: Executor, address: str | None, workers: int | None, worker_cpus: int | None, worker_gpus: float | None
) -> Ray | None:
    """None: this process."""
    given = {"address": address, "workers": workers, "worker_cpus": worker_cpus, "worker_gpus": worker_gpus}
    if name == Executor.ray:
        return Ray(address=address, workers=workers, worker_cpus=worker_cpus, worker_gpus=worker_gpus)
    for option, value in given.items():
        if value is not None:
            raise UsageError(f"--{option.replace('_', '-')} is of a cluster. Add --executor ray, or leave it out.")
    return None


def words_of(executor: Ray | None) -> list[str]:
    """The options as they are typed."""
    if executor is None:
        return []
    given = {name: value for name, value in dataclasses.asdict(executor).items() if value is not None}
    options = (
        (f"--{name.replace('_', '-')}", f"{value:g}" if isinstance(value, float) else str(value))
        for name, value in given.items()
    )
    return ["--executor", "ray", *itertools.chain.from_iterable(options)]
