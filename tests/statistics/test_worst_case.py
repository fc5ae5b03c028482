"""Differences must stand whatever the missing answers would have been; expected numbers are worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from shaketable.statistics.intervals import Numbers
from shaketable.statistics.sign_flips import sign_flip
from shaketable.statistics.worst_case import is_uncertain, worst_cases, worst_p
from shaketable.types import Estimate

IDS = [f"q{i}" for i in range(20)]


def flip(values: Numbers) -> list[float]:
    return sign_flip(values, IDS[: values.shape[1]])


def told(observed: list[float], wrong: list[float], right: list[float], *, keeps_sign: bool = True):
    values, *filled = (np.array([own]) for own in (observed, wrong, right))
    [case] = worst_cases(values, (filled[0], filled[1]), np.array([True]), flip, keeps_sign=keeps_sign)
    return case


def test_more_than_a_twentieth_is_too_much_to_leave_out():
    n_failed, n_scored = np.array([0, 5, 6, 1, 0]), np.array([100, 95, 94, 0, 0])
    assert is_uncertain(n_failed, n_scored).tolist() == [False, False, True, True, False]


def test_bounds_are_the_means_of_the_two_fillings():
    # Six of ten pairs are known and lose nothing; the other four were right before, and failed after.
    case = told([0.0] * 6 + [math.nan] * 4, [0.0] * 6 + [1.0] * 4, [0.0] * 10)
    assert (case.low, case.high) == (0.0, 0.4)


def test_a_loss_that_stands_in_all_cases_has_the_largest_of_three_ps():
    # Exact McNemar: ten, nine or twelve questions that lose, and none that gains.
    lost = [1.0] * 10 + [math.nan] * 2
    case = told(lost, [1.0] * 12, [1.0] * 9 + [0.0] * 3)
    assert case.p == pytest.approx(2 * 0.5**9)
    assert (case.low, case.high) == (0.75, 1.0)


@pytest.mark.parametrize("turned", [-0.5, 0.0])
def test_a_difference_whose_sign_depends_on_what_is_missing_shows_nothing(turned):
    assert told([0.5] * 20, [0.5] * 20, [turned] * 20).p == 1.0


def test_an_equivalence_has_no_sign_to_keep():
    assert told([0.5] * 20, [0.5] * 20, [-0.5] * 20, keeps_sign=False).p == pytest.approx(2 * 0.5**20)


def test_where_little_is_missing_the_test_is_the_plain_one():
    values = np.array([[1.0] * 10, [0.0] * 10, [math.nan] * 10])
    zeros = np.zeros_like(values)
    cases = worst_cases(values, (zeros, zeros), np.array([False, False, True]), flip)
    assert [case.p for case in cases[:2]] == [pytest.approx(2 * 0.5**10), 1.0]
    assert math.isnan(cases[2].p)
    assert all(case.low is None and case.high is None for case in cases)


def test_of_estimates_the_largest_p_counts_if_all_have_one_sign():
    def tested(*pairs: tuple[float | None, float | None]) -> float | None:
        return worst_p([(Estimate(value=value, low=None, high=None, level=0.95, n=9, how=""), p) for value, p in pairs])

    assert tested((0.2, 0.01), (0.1, 0.04), (0.3, 0.001)) == 0.04
    assert tested((0.2, 0.01), (-0.1, 0.04), (0.3, 0.001)) == 1.0
    assert tested((0.2, 0.01), (None, None), (0.3, 0.001)) is None
