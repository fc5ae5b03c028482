"""A cluster of Ray: the one at an address, the one that runs here, or one that is started for the run."""

from __future__ import annotations

import contextlib
import importlib
import ipaddress
import logging
import os
import secrets
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from shaketable.errors import ClusterError

QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # Else it prints to standard output that a node is gone, which we tell.
}
"""What Ray reads when it is imported."""
ANSWERS_WITHIN_SECONDS = 5.0
OWN = "shaketable-own"
"""The namespace of a cluster that is started for the run: no other machine can join it."""

_own_access: dict[str, str] = {}
"""Environment variables by which clusters that this process starts know its calls; empty: it started none."""

logger = logging.getLogger(__name__)


@contextlib.contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Ray's module, connected; a connection that was there before stays."""
    is_new = "ray" not in sys.modules
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    if not is_new and importlib.import_module("ray").is_initialized():
        yield importlib.import_module("ray")
        return
    given = refuse_silent(address)
    found = _running_here() if given == "auto" else given
    if found != "local" and _own_access:
        raise ClusterError(
            f"This process has started a cluster of its own, with a token that Ray keeps: the one at {found} would not "
            "know it. Use that one in a new process."
        )
    with _own_token(is_new) if found == "local" else contextlib.nullcontext():
        import ray

        try:
            _connect(ray, found)
            yield ray
        finally:
            ray.shutdown()


def _connect(ray: Any, found: str) -> None:
    quiet = {"log_to_driver": False, "logging_level": logging.CRITICAL}
    try:
        if found == "local":
            logger.info("a cluster of Ray is started on this machine for the run")
            ray.init(address="local", include_dashboard=False, namespace=OWN, **quiet)
        else:
            ray.init(address=found, **quiet, **_own_address(found))
    except (ConnectionError, RuntimeError, ValueError) as error:  # Such as another version of Ray or Python.
        raise ClusterError(f"The cluster of Ray ({found}) cannot be used: {error}") from error


@contextlib.contextmanager
def _own_token(is_new: bool) -> Iterator[None]:
    """A cluster that is started for the run takes calls of this process alone. Ray would make a token too, and keep it
    in a file that the user's later clusters go by. It reads the mode when it is imported, so `is_new`, and the token
    once: every cluster that is started later here has the same."""
    if "RAY_AUTH_MODE" in os.environ:
        yield
        return
    if is_new:
        _own_access.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))
    os.environ.update(_own_access)
    try:
        yield
    finally:
        for name in _own_access:
            os.environ.pop(name, None)


def refuse_silent(address: str | None) -> str:
    """The address that is meant, if something answers there: Ray itself tries for minutes, and shows each attempt."""
    given = address or os.environ.get("RAY_ADDRESS") or "auto"
    if given not in ("auto", "local") and not _answers(given):
        raise ClusterError(
            f"Nothing answers at {given}. Start a cluster of Ray there (ray start --head --port=6379), check the "
            "address of its head node, or leave it out to have one started on this machine."
        )
    return given


def _running_here() -> str:
    """The cluster that was started last on this machine, where Ray notes it, if it is still there."""
    note = Path(os.environ.get("RAY_TMPDIR") or tempfile.gettempdir(), "ray", "ray_current_cluster")
    with contextlib.suppress(OSError):
        if _answers(noted := note.read_text("utf-8").strip()):
            return noted
    return "local"


def _answers(address: str) -> bool:
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ClusterError(f"The address {address} of a cluster is not HOST:PORT, such as 10.0.0.1:6379.")
    try:
        with socket.create_connection((host, int(port)), timeout=ANSWERS_WITHIN_SECONDS):
            return True
    except OSError:
        return False


def _own_address(address: str) -> dict[str, str]:
    """Ray takes the address of a machine's network for its own; a cluster on loopback addresses has others."""
    host = address.rpartition(":")[0]
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(host).is_loopback:
            return {"_node_ip_address": host}
    return {}
