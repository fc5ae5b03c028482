"""Numbers of stability, worked by hand, and against scipy."""

from __future__ import annotations

import itertools
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaketable.statistics.stability import (
    aligned_similarity,
    diversity,
    noise_flip,
    overlap,
    pair_steadiness,
    relative_change,
    steadiness,
)

COUNTS = st.lists(st.integers(0, 9), min_size=2, max_size=9)


@pytest.mark.parametrize(
    ("zero", "expected"),
    [("one", 1.375), ("zero", 0.875), ("drop", 1.166667)],
)
def test_relative_change_has_three_ways_with_originals_without_calls(zero: str, expected: float) -> None:
    pairs = zip((2, 0, 3, 1), (1, 2, 3, 4), strict=True)
    changes = [change for pair in pairs if (change := relative_change(*pair, zero)) is not None]  # type: ignore[arg-type]
    assert np.mean(changes) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("counts", "inverse", "one_minus"),
    [
        ((2, 2, 2, 2, 2, 2, 1), 0.841452, 0.811578),
        ((1, 1, 1, 1, 1, 1, 2), 0.765588, 0.693814),
        ((1, 1, 1, 1, 1, 1, 0), 0.710102, 0.591752),
        ((0, 0, 0, 0, 0, 0, 3), 0.289898, -1.449490),
        ((1, 2, 3, 4, 5, 6, 7), 0.666667, 0.5),
        ((0,) * 7, 1.0, 1.0),
    ],
)
def test_steadiness_by_hand(counts: tuple[int, ...], inverse: float, one_minus: float) -> None:
    assert steadiness(counts) == pytest.approx(inverse, abs=1e-6)
    assert steadiness(counts, "one_minus") == pytest.approx(one_minus, abs=1e-6)


@given(COUNTS)
def test_steadiness_is_one_for_equal_counts_alone(counts: list[int]) -> None:
    assert 0 < steadiness(counts) <= 1
    assert (steadiness(counts) == 1) is (len(set(counts)) == 1)


def test_diversity_by_hand() -> None:
    assert diversity(np.array([(1.0, 0.0), (0.0, 1.0), (0.6, 0.8)])) == pytest.approx(0.533333, abs=1e-6)
    assert diversity(np.array([(1.0, 0.0)] * 4)) == pytest.approx(0)


def test_similarity_of_hops_by_hand() -> None:
    found = [0.99, 1.00, 0.85, 0.13]
    assert aligned_similarity(found, 4) == pytest.approx(0.7425)
    assert aligned_similarity(found, 5) == pytest.approx(0.7425)
    assert aligned_similarity(found, 5, missing_is_zero=True) == pytest.approx(0.594)
    assert aligned_similarity([], 0) is aligned_similarity([], 3) is None
    assert aligned_similarity([], 3, missing_is_zero=True) == 0


def test_overlap_by_hand() -> None:
    assert overlap("abc", "abx") == 0.5
    assert overlap("def", "ghi") == 0
    assert overlap("", "") == 1


@pytest.mark.parametrize(("p", "expected"), [(0.5, 0.5), (0.7, 0.42), (0.9, 0.18)])
def test_the_noise_flip_tends_to_two_p_one_minus_p(p: float, expected: float) -> None:
    acts = [True] * round(p * 10_000) + [False] * round((1 - p) * 10_000)
    assert noise_flip(acts) == pytest.approx(expected, abs=1e-4)


def test_the_noise_flip_compares_as_many_runs_as_there_are_wordings() -> None:
    # Of three runs, one acts. Against one other: 2 of 3 pairs differ. Against both others: always one differs.
    assert noise_flip([True, False, False]) == pytest.approx(2 / 3)
    assert noise_flip([True, False, False], 2) == 1
    assert noise_flip([True, True, True], 2) == 0
    assert noise_flip([True, False], 2) is None
    assert noise_flip([True]) is None


def test_the_steadiness_of_two_is_that_of_their_pair() -> None:
    for form in ("inverse", "one_minus"):
        assert pair_steadiness([2, 1], form) == pytest.approx(steadiness([2, 1], form))
    # 2 and 1 have 3/4, 2 and 0 have 1/2, 1 and 0 have 1/2.
    assert pair_steadiness([2, 1, 0]) == pytest.approx((3 / 4 + 1 / 2 + 1 / 2) / 3)
    assert pair_steadiness([0, 0, 0]) == 1


def test_by_pair_steadiness_does_not_depend_on_how_many_are_compared() -> None:
    """Over all equally likely counts of 2 and of 4: the mean is the same, which that of all together is not."""
    means = [
        [fmean(measure(counts) for counts in itertools.product(range(3), repeat=n)) for n in (2, 4)]
        for measure in (pair_steadiness, steadiness)
    ]
    assert means[0][0] == pytest.approx(means[0][1])
    assert means[1][0] > means[1][1] + 0.05
