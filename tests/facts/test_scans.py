"""Courses through the temperatures: which trials they ask for, and how many they save."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from shaketable.facts.scans import MOST_SEQUENTIAL, course, most_repeats
from shaketable.types import Scan

GRID = tuple(round(0.2 * i, 1) for i in range(1, 11))
CURVE = (1.0, 0.99, 0.97, 0.92, 0.84, 0.74, 0.64, 0.54, 0.45, 0.37)
"""The example of factual-robustness 5.3; its true breaking temperature is 1.8."""


def walk(strategy: str, outcome: Callable[[float, int], bool | None], temperatures: Sequence[float] = GRID) -> list:
    """All trials that a course asks for, in its order."""
    walked = []
    steps = course(Scan(strategy=strategy), temperatures, 10)
    try:
        asks = next(steps)
        while True:
            walked += asks
            asks = steps.send([outcome(*ask) for ask in asks])
    except StopIteration:
        return walked


def broken_at(walked: list, outcome: Callable[[float, int], bool | None]) -> dict[float, bool]:
    """Temperature → whether the share of correct answers seen there lies below one half."""
    seen: dict[float, list[bool]] = {}
    for ask in walked:
        seen.setdefault(ask[0], []).append(bool(outcome(*ask)))
    return {temperature: sum(right) / len(right) < 0.5 for temperature, right in seen.items()}


def test_the_full_grid_asks_for_everything_at_once():
    assert walk("full", lambda t, r: True) == [(t, r) for t in GRID for r in range(10)]


def test_without_a_scan_nothing_above_zero_is_asked():
    assert walk("none", lambda t, r: True) == []
    assert most_repeats(Scan(strategy="none"), 10) == 0


def test_an_incremental_scan_stops_after_the_temperature_that_breaks():
    walked = walk("incremental", lambda t, r: t < 0.6)
    assert walked == [(t, r) for t in (0.2, 0.4, 0.6) for r in range(10)]


@given(st.lists(st.lists(st.booleans(), min_size=10, max_size=10), min_size=10, max_size=10))
def test_curtailed_and_incremental_scans_decide_as_the_full_grid_does(table):
    def outcome(t: float, r: int) -> bool:
        return table[GRID.index(t)][r]

    full = [sum(row) / 10 < 0.5 for row in table]
    first = full.index(True) if True in full else len(GRID) - 1
    for strategy in ("incremental", "curtailed"):
        verdicts = broken_at(walk(strategy, outcome), outcome)
        assert list(verdicts) == list(GRID[: first + 1])
        assert list(verdicts.values()) == full[: first + 1]


@pytest.mark.parametrize(
    ("p", "expected"),
    # factual-robustness, section 9.
    [(1, 5), (0.95, 5.2632), (0.9, 5.5553), (0.8, 6.2361), (0.7, 7.0165), (0.6, 7.7694), (0.5, 8.2930),
     (0.4, 8.4090), (0.3, 8.0726), (0.2, 7.4133), (0.1, 6.6631), (0, 6)],
)  # fmt: skip
def test_curtailment_asks_for_as_many_answers_as_the_study_expects(p, expected):
    assert expected_trials("curtailed", p) == pytest.approx(expected, abs=5e-5)


def expected_trials(strategy: str, p: float) -> float:
    """Over all 1,024 outcomes of ten trials at one temperature."""
    total = 0.0
    for outcomes in itertools.product((True, False), repeat=10):
        chance = p ** sum(outcomes) * (1 - p) ** (10 - sum(outcomes))
        if chance:
            total += chance * len(walk(strategy, lambda t, r, o=outcomes: o[r], (1.0,)))
    return total


def test_whole_scans_cost_what_the_study_expects():
    # factual-robustness 9, for the curve of 5.3: 87.74, 55.45, and 36.32 and 27.02 without the look below.
    breaks = [float(stats.binom.cdf(4, 10, p)) for p in CURVE]
    each = [expected_trials("curtailed", p) for p in CURVE]
    reached = list(itertools.accumulate((1 - b for b in breaks[:-1]), lambda a, b: a * b, initial=1.0))
    assert 10 * sum(reached) == pytest.approx(87.74, abs=0.005)
    assert sum(r * n for r, n in zip(reached, each, strict=True)) == pytest.approx(55.45, abs=0.005)

    trials, curtailed = 0.0, 0.0
    for verdicts in itertools.product((True, False), repeat=10):
        chance = 1.0
        for broken, b in zip(verdicts, breaks, strict=True):
            chance *= b if broken else 1 - b
        visited = bisected(verdicts)
        trials += chance * 10 * len(visited)
    for place in range(10):
        curtailed += sum(
            _chance(verdicts, breaks, without=place) * each[place]
            for verdicts in itertools.product((True, False), repeat=10)
            if verdicts[place] and place in bisected(verdicts)
        )
    assert trials == pytest.approx(36.32, abs=0.005)
    assert curtailed == pytest.approx(27.02, abs=0.005)


def _chance(verdicts: Sequence[bool], breaks: Sequence[float], without: int) -> float:
    """Whether a place is visited does not depend on its own verdict, so that place is left out."""
    chance = 1.0
    for place, (broken, b) in enumerate(zip(verdicts, breaks, strict=True)):
        if place != without:
            chance *= b if broken else 1 - b
    return chance


def bisected(verdicts: Sequence[bool]) -> list[int]:
    """The places that the halving visits, without the look below."""
    walked = walk("bisection", lambda t, r: not verdicts[GRID.index(t)])
    places = list(dict.fromkeys(GRID.index(t) for t, _ in walked))
    low, high, visited = 0, 9, []
    while low <= high:
        middle = places[len(visited)]
        visited.append(middle)
        low, high = (low, middle - 1) if verdicts[middle] else (middle + 1, high)
    assert len(places) - len(visited) <= 1
    return visited


def test_bisection_visits_what_the_example_visits_and_looks_below():
    # factual-robustness 5.2: visits 1.0, 1.6, 1.8. The look below then finds 1.4 broken: not a falling curve.
    accuracies = dict(zip(GRID, (1, 1, 0.9, 0.7, 0.6, 0.5, 0.4, 0.5, 0.3, 0.2), strict=True))
    walked = walk("bisection", lambda t, r: r < 10 * accuracies[t])
    assert list(dict.fromkeys(t for t, _ in walked)) == [1.0, 1.6, 1.8, 1.4]
    assert broken_at(walked, lambda t, r: r < 10 * accuracies[t])[1.4]


def test_a_sequential_test_stops_at_a_lead_of_eight():
    # beyond 5.3: eight right in a row decide for unbroken; wrong ones first must be caught up.
    assert len(walk("sequential", lambda t, r: True, (1.0,))) == 8
    assert len(walk("sequential", lambda t, r: r >= 3, (1.0,))) == 3 + 3 + 8
    assert len(walk("sequential", lambda t, r: r % 2 == 0, (1.0,))) == MOST_SEQUENTIAL


def test_failed_trials_count_neither_way():
    assert len(walk("curtailed", lambda t, r: None, (1.0,))) == 10
    only_first = broken_at([(1.0, 0)], lambda t, r: True)
    assert not only_first[1.0]
    # One right, nine failed: nothing says that it is broken, so the scan goes on.
    assert (0.4, 0) in walk("incremental", lambda t, r: True if r == 0 else None)
