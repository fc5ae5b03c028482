"""A viewer of a made run."""

from __future__ import annotations

from collections.abc import Iterator

import made_run
import pytest
from asked_viewer import Client, serving

from shaketable.store import Run
from shaketable.viewer.server import LocalServer


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return made_run.made_run(tmp_path_factory.mktemp("viewed") / "made run")


@pytest.fixture(scope="session")
def viewer(run: Run) -> Iterator[LocalServer]:
    with serving(run) as viewer:
        yield viewer


@pytest.fixture(scope="session")
def client(viewer: LocalServer) -> Client:
    return Client(viewer)
