"""Draws that are made in blocks are those that would be made at once, so that memory does not grow with questions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shaketable.identity import seed_from
from shaketable.statistics import resampling, sign_flips, simultaneous
from shaketable.statistics.intervals import mean_of
from shaketable.statistics.resampling import draw_counts, resampled_bounds
from shaketable.statistics.sign_flips import sign_flip
from shaketable.statistics.simultaneous import joint_confidence


def ids(n: int) -> list[str]:
    return [f"q{i}" for i in range(n)]


@settings(max_examples=20, deadline=None)
@given(n=st.integers(2, 60), at_once=st.integers(1, 4000))
def test_draws_do_not_depend_on_the_blocks_they_are_made_in(n: int, at_once: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resampling, "MOST_AT_ONCE", at_once)
        blocks = list(draw_counts(ids(n), 50))
    assert max(block.size for block in blocks) <= max(at_once, n)
    # As they were always made: all at once.
    drawn = np.random.default_rng(seed_from("bootstrap", *ids(n))).integers(0, n, (50, n))
    counts = np.stack([np.bincount(row, minlength=n) for row in drawn])
    assert np.array_equal(np.concatenate(blocks), counts)


@pytest.mark.parametrize("method", ["bca", "expanded", "percentile"])
def test_bounds_do_not_depend_on_blocks(method, monkeypatch) -> None:
    values = np.random.default_rng(3).normal(size=(4, 30))
    whole = resampled_bounds(mean_of(values), ids(30), 500, 0.95, method)
    monkeypatch.setattr(resampling, "MOST_AT_ONCE", 100)
    assert np.array_equal(resampled_bounds(mean_of(values), ids(30), 500, 0.95, method), whole)


def test_a_p_does_not_depend_on_blocks(monkeypatch) -> None:
    differences = np.random.default_rng(4).normal(0.2, 1, size=(3, 40))
    whole = sign_flip(differences, ids(40))
    monkeypatch.setattr(sign_flips, "MOST_AT_ONCE", 1000)
    assert sign_flip(differences, ids(40)) == whole
    assert all(0.0001 < p < 1 for p in whole)  # Drawn, not computed.


def test_a_joint_confidence_does_not_depend_on_blocks(monkeypatch) -> None:
    values = np.random.default_rng(5).normal(size=(5, 40))
    whole = joint_confidence(values, ids(40), 0.95)
    monkeypatch.setattr(simultaneous, "MOST_AT_ONCE", 10_000)
    assert joint_confidence(values, ids(40), 0.95) == pytest.approx(whole, abs=1e-13)
    assert whole > 0.97
