"""A few simulated systems through the real source and analysis; `benchmarks/shake_power.py` shakes hundreds."""

from __future__ import annotations

import pytest
from known_truth.shaken_systems import KNOWN, LUCKY, RIGHT, System, accuses, finds, shake, third

ACCURACY = KNOWN * RIGHT + (1 - KNOWN) * LUCKY


@pytest.mark.parametrize("weakness", ["one wording", "one kind of evidence", "hot only", "one wording, hot only"])
def test_a_planted_weakness_is_found_with_a_third_of_the_calls(weakness):
    systems = [System(weakness=weakness, broken=0.2, seed=seed) for seed in range(2)]
    results = [shake(system, 60, third(60)) for system in systems]
    assert sum(map(finds, systems, results)) == 2
    assert sum(map(accuses, systems, results)) == 0


def test_nothing_is_named_where_nothing_is_planted():
    systems = [System(weakness="none", broken=0.5, seed=seed) for seed in range(8)]
    # At most 1 in 20 is; 3 of 8 would come by chance six times in a thousand.
    assert sum(accuses(system, shake(system, 30, third(30))) for system in systems) < 3


def test_intervals_of_all_ways_hold_the_truth_whatever_was_continued():
    """At most 1 run in 20 has an interval that misses; 3 of 10 would come by chance once in a hundred times."""
    systems = [System(weakness="one wording", broken=0.3, seed=seed) for seed in range(10)]
    results = [shake(system, 30, third(30)) for system in systems]
    assert sum(map(misses, systems, results)) < 3


def misses(system, result):
    truth = {True: ACCURACY - system.broken, False: 0.0}
    return any(not arm.loss.low <= truth[system.is_weak(arm.cell)] <= arm.loss.high for arm in result.arms)
