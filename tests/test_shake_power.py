"""A few simulated systems through the real source and analysis; `benchmarks/shake_power.py` shakes hundreds."""

from __future__ import annotations

import pytest
from known_truth.shaken_systems import System, accuses, finds, shake, third


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
