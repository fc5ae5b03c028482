"""Where trials are answered, when it is not this process."""

from __future__ import annotations

from dataclasses import dataclass

from shaketable.errors import StudyError


@dataclass(frozen=True, kw_only=True, slots=True)
class Ray:
    """A cluster of Ray: each of its workers has the model and is handed trials. What is stored is what a run in this
    process stores.

    >>> import shaketable
    >>> shaketable.Ray(address="10.0.0.1:6379", worker_gpus=1).worker_gpus
    1
    """

    address: str | None = None
    """`host:port` of the head node; None: the cluster that runs on this machine, or one that is started for the run."""
    workers: int | None = None
    """None: as many as fit, more when nodes join."""
    worker_cpus: int | None = None
    """Of each worker, and the threads it computes with; None: as many threads as a run in this process has, for a model
    that computes on a processor, else 1."""
    worker_gpus: float | None = None
    """Of each worker; None: 1 for a local model with device='cuda', else none."""

    def __post_init__(self) -> None:
        for name, value, least in (("workers", self.workers, 1), ("worker_cpus", self.worker_cpus, 1)):
            if value is not None and value < least:
                raise StudyError(f"executor: {name} is {value}; give {least} or more.")
        if self.worker_gpus is not None and self.worker_gpus < 0:
            raise StudyError(f"executor: worker_gpus is {self.worker_gpus:g}; give 0 or more.")
        if self.address is not None and "://" in self.address:
            raise StudyError(
                f"executor: the address {self.address} is one of Ray's client, which cannot stream answers back. Run "
                "this on a machine of the cluster and give the address of its head node, such as 10.0.0.1:6379."
            )
