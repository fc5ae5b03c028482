"""A real cluster of Ray: two nodes on loopback addresses of this machine, of which one can be killed."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psutil

import shaketable
from shaketable.errors import RunError
from shaketable.stages.cluster.connect import connected

HEAD, OTHER = "127.0.0.2", "127.0.0.3"
QUICK_TO_NOTICE = {
    "RAY_health_check_initial_delay_ms": "500",
    "RAY_health_check_period_ms": "500",
    "RAY_health_check_timeout_ms": "5000",
    "RAY_health_check_failure_threshold": "2",
}
"""A node that is gone is given up within seconds."""
COMMON = ("--block", "--num-cpus=1", "--object-store-memory=100000000", "--disable-usage-stats")


class TwoNodes:
    """With one CPU each."""

    def __init__(self, *packages: str) -> None:
        """`packages`: folders with what else is installed there."""
        self.packages, port = packages, _free_port()
        self.address = f"{HEAD}:{port}"
        self.folder = tempfile.mkdtemp(prefix="nodes")  # Its sockets need a short path.
        head = ("--head", f"--port={port}", "--include-dashboard=false", f"--temp-dir={self.folder}")
        self.head = self._start(*head, f"--node-ip-address={HEAD}")
        self.other: subprocess.Popen[bytes] | None = self._start(
            f"--address={self.address}", f"--node-ip-address={OTHER}"
        )

    @contextmanager
    def connected(self) -> Iterator[Any]:
        """Ray's module, connected, when both nodes are up."""
        with ExitStack() as stack:
            wait_for(lambda: _connects(self.address, stack))
            import ray

            wait_for(lambda: sum(node["Alive"] for node in ray.nodes()) == 2)
            yield ray

    def kill_other(self) -> None:
        """As a machine goes that loses its power: nothing of it says goodbye."""
        assert self.other is not None
        _kill(self.other)
        self.other = None

    def close(self) -> None:
        for node in filter(None, (self.other, self.head)):
            _kill(node)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        path = os.pathsep.join([str(Path(shaketable.__file__).parents[1]), *self.packages])
        environment = {**os.environ, **QUICK_TO_NOTICE, "RAY_USAGE_STATS_ENABLED": "0", "PYTHONPATH": path}
        return subprocess.Popen(
            [Path(sys.executable).with_name("ray"), "start", *COMMON, *arguments],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


@contextmanager
def two_nodes(*packages: str) -> Iterator[TwoNodes]:
    """Without Ray's tokens, which a user may have switched on."""
    with patch.dict(os.environ, RAY_AUTH_MODE="disabled"):
        nodes = TwoNodes(*packages)
        try:
            yield nodes
        finally:
            nodes.close()


def wait_for(holds: Callable[[], bool], seconds: float = 90.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"It did not come true within {seconds:g} s."
        time.sleep(0.05)


def _connects(address: str, stack: ExitStack) -> bool:
    """A head node that has just been started does not answer yet."""
    try:
        stack.enter_context(connected(address))
    except RunError:
        return False
    return True


def _free_port() -> int:
    with socket.socket() as one:
        one.bind((HEAD, 0))
        return int(one.getsockname()[1])


def _kill(node: subprocess.Popen[bytes]) -> None:
    """The node with its workers and all else that it started."""
    with suppress(psutil.NoSuchProcess):
        for process in [*psutil.Process(node.pid).children(recursive=True), psutil.Process(node.pid)]:
            with suppress(psutil.NoSuchProcess):
                process.kill()
    node.wait()
