"""A viewer of a made run, and a browser to look at it with."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import made_run
import pytest
from asked_viewer import Client, serving

from shaketable.store import Run
from shaketable.viewer.server import LocalServer

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
)


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
