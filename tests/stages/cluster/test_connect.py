"""Finding a cluster, without one."""

from __future__ import annotations

import socket

import pytest

from shaketable.errors import RunError, StudyError
from shaketable.stages.cluster import connect
from shaketable.stages.cluster.executor import Ray


@pytest.fixture
def closed():
    """An address at which nothing listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{one.getsockname()[1]}"


def test_an_address_at_which_nothing_answers_is_told_at_once(closed):
    with (
        pytest.raises(RunError, match=rf"Nothing answers at {closed}\. Start a cluster"),
        connect.connected(closed),
    ):
        pass


@pytest.mark.parametrize("address", ["somewhere", "host:", ":6379", "host:port"])
def test_an_address_that_is_none_is_told(address):
    with pytest.raises(RunError, match=r"is not HOST:PORT, such as 10\.0\.0\.1:6379"), connect.connected(address):
        pass


def test_a_cluster_that_is_gone_is_not_taken_for_one_that_runs_here(tmp_path, monkeypatch, closed):
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    assert connect._running_here() == "local"
    (tmp_path / "ray").mkdir()
    note = tmp_path / "ray" / "ray_current_cluster"
    note.write_text(closed)
    assert connect._running_here() == "local"
    with socket.create_server(("127.0.0.1", 0)) as open_one:
        note.write_text(f"127.0.0.1:{open_one.getsockname()[1]}\n")
        assert connect._running_here() == note.read_text().strip()


def test_after_a_cluster_of_its_own_a_process_is_not_left_waiting_for_another(monkeypatch):
    """Ray keeps the token of the first: workers of the second would never start."""
    monkeypatch.setitem(connect._own_access, "RAY_AUTH_TOKEN", "0" * 64)
    with (
        socket.create_server(("127.0.0.1", 0)) as other,
        pytest.raises(RunError, match=r"has started a cluster of its own.*Use that one in a new process"),
        connect.connected(f"127.0.0.1:{other.getsockname()[1]}"),
    ):
        pass


def test_a_cluster_on_loopback_addresses_is_told_ours():
    assert connect._own_address("127.0.0.2:6379") == {"_node_ip_address": "127.0.0.2"}
    assert connect._own_address("10.0.0.1:6379") == connect._own_address("head:6379") == {}


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"workers": 0}, "workers is 0; give 1 or more"),
        ({"worker_cpus": 0}, "worker_cpus is 0; give 1 or more"),
        ({"worker_gpus": -1.0}, "worker_gpus is -1; give 0 or more"),
        ({"address": "ray://head:10001"}, "cannot stream answers back"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, problem):
    with pytest.raises(StudyError, match=problem):
        Ray(**settings)
