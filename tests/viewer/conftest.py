"""A viewer of a made run, and a browser to look at it with."""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import made_run
import pytest

from shaketable.store import Run
from shaketable.viewer.server import Viewer

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
)


@contextlib.contextmanager
def serving(*runs: Run) -> Iterator[Viewer]:
    with Viewer(runs) as viewer:
        thread = threading.Thread(target=viewer.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield viewer
        viewer.shutdown()
        thread.join()


class Client:
    """Asks a viewer without tidying the address first, as browsers and most libraries do."""

    def __init__(self, viewer: Viewer) -> None:
        self.viewer = viewer

    def ask(self, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.viewer.server_port, timeout=30)
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        reply = connection.getresponse()
        body = reply.read().decode("utf-8")
        connection.close()
        return reply.status, dict(reply.getheaders()), body


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return made_run.made_run(tmp_path_factory.mktemp("viewed") / "made run")


@pytest.fixture(scope="session")
def viewer(run: Run) -> Iterator[Viewer]:
    with serving(run) as viewer:
        yield viewer


@pytest.fixture(scope="session")
def client(viewer: Viewer) -> Client:
    return Client(viewer)


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    """Chromium from the system. In CI a missing browser is a failure; elsewhere these tests are left out."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        missing = "There is no Chromium. On Debian: apt-get install chromium."
        if os.environ.get("CI", "").lower() in ("1", "true"):
            pytest.fail(missing)
        pytest.skip(missing)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(Path(found)), headless=True, args=list(FLAGS))
        yield browser
        browser.close()
