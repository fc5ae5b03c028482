"""Fixtures that several folders share. Its place puts `made_studies` and `fake_parts` on the import path."""

from __future__ import annotations

import fake_parts
import hypothesis
import pytest

from shaketable import catalog

# A busy machine is slow at times; that is no finding.
hypothesis.settings.register_profile("shaketable", deadline=None, max_examples=40)
hypothesis.settings.load_profile("shaketable")


@pytest.fixture
def with_fake_parts(monkeypatch):
    """The parts of `fake_parts.py` are in the catalog, with nothing remembered from another test."""
    own = catalog.known
    monkeypatch.setattr(catalog, "known", lambda kind: {**own(kind), **fake_parts.CATALOG.get(kind, {})})
    fake_parts.forget()
    yield fake_parts
    fake_parts.forget()
