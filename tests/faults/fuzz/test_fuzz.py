"""A few cases of every target in each run of the tests; `benchmarks/fuzz.py` runs as many as there is time for."""

from __future__ import annotations

import pytest
from faults.fuzz.running import explore, run_cases
from faults.fuzz.targets import SLOW, TARGETS, WEIGHTS

FEW, MANY = 25, 1000


@pytest.mark.parametrize("name", [name for name in TARGETS if name not in SLOW])
def test_whatever_comes_in_is_refused_in_words_or_comes_out_right(name: str) -> None:
    explore(name, FEW, 20)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(TARGETS))
def test_so_are_many_more_cases(name: str) -> None:
    outcome = run_cases(name, round(MANY * WEIGHTS.get(name, 1.0)), 0)
    assert not outcome.failures, "\n".join(outcome.failures)
