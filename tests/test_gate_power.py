"""A small version of `benchmarks/gate_power.py`: the gate closes on a planted drop, and lets a re-run pass."""

from __future__ import annotations

import pytest
from known_truth.releases import Release, cases


def verdicts(release: Release, n_draws: int) -> dict[str, tuple[int, str]]:
    return {row.part: (row.hits, row.verdict) for row in release.run(range(n_draws))}


def test_a_drop_of_ten_points_closes_the_gate_and_a_re_run_passes_it():
    measured = verdicts(Release(icc=0.8), 40)
    assert measured["closes"][0] >= 36
    assert measured["passes"][0] >= 36


def test_what_loses_nothing_rarely_closes_the_gate_and_too_much_noise_hides_a_drop():
    assert verdicts(Release(icc=0.8, drop=0.0), 20)["closes"][0] <= 4
    assert verdicts(Release(icc=0.01, n=60, is_required=False), 20)["closes"][0] <= 16


@pytest.mark.slow
@pytest.mark.parametrize("release", [own for own in cases() if own.is_required], ids=lambda own: own.what)
def test_the_gate_keeps_its_promise(release):
    assert {verdict for _, verdict in verdicts(release, 100).values()} == {"ok"}
