"""Fixtures that several folders share. Its place puts `made_studies` and `fake_parts` on the import path."""

from __future__ import annotations

import gc
import itertools
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import fake_parts
import hypothesis
import pytest

from shaketable import catalog

NUMBERS = itertools.count()
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
)

# A busy machine is slow at times; that is no finding.
hypothesis.settings.register_profile("shaketable", deadline=None, max_examples=40)
hypothesis.settings.load_profile("shaketable")


def pytest_collection_finish() -> None:
    """Thousands of tests were collected and stay to the end: garbage need not be looked for among them."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def no_proof_is_kept(monkeypatch, tmp_path_factory):
    """What is proved of local models is proved anew in each test and stays out of the user's cache."""
    monkeypatch.setattr("shaketable.engine.proof_cache.folder", lambda: tmp_path_factory.mktemp("proofs"))


@pytest.fixture(autouse=True)
def no_folder_of_a_run_is_kept(monkeypatch):
    """Relative paths are not looked for in the folder of another test's run."""
    monkeypatch.setattr("shaketable.errors._base", None)


@pytest.fixture(autouse=True)
def no_measure_is_kept(monkeypatch, tmp_path_factory):
    """Forecasts go by what was measured in the same test, and what tests measure stays out of the user's cache."""
    own = tmp_path_factory.getbasetemp() / f"measures-{next(NUMBERS)}"
    monkeypatch.setattr("shaketable.stages.measured.folder", lambda: own)


@pytest.fixture(autouse=True)
def nothing_stays_registered():
    """What a test brings into the catalog of this process is gone after it."""
    own, elsewhere = {kind: dict(parts) for kind, parts in catalog._REGISTERED.items()}, dict(catalog._ELSEWHERE)
    yield
    for kind, parts in own.items():
        if catalog._REGISTERED[kind] != parts:
            catalog._REGISTERED[kind] = parts
            catalog._BROUGHT.append("")
    catalog._ELSEWHERE.clear()
    catalog._ELSEWHERE.update(elsewhere)


@pytest.fixture
def with_fake_parts(monkeypatch):
    """The parts of `fake_parts.py` are in the catalog, with nothing remembered from another test."""
    own = catalog.known
    monkeypatch.setattr(catalog, "known", lambda kind: {**own(kind), **fake_parts.CATALOG.get(kind, {})})
    fake_parts.forget()
    yield fake_parts
    fake_parts.forget()


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    """Chromium from the system, for the tests of a file: its driver keeps an event loop, in which others cannot start
    theirs. In CI a missing browser is a failure; elsewhere these tests are left out."""
    path = next((which for name in BROWSERS if (which := shutil.which(name))), None)
    if path is None:
        missing = "There is no Chromium. On Debian: apt-get install chromium."
        if os.environ.get("CI", "").lower() in ("1", "true"):
            pytest.fail(missing)
        pytest.skip(missing)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(Path(path)), headless=True, args=list(FLAGS))
        yield browser
        browser.close()
