"""Spearman's rho and its test, against scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from shaketable.statistics.rank_correlation import spearman_of, spearman_test


def test_spearman_by_hand() -> None:
    x, y = np.array([3.1, 2.2, 4.0, 2.9, 3.5]), np.array([0.80, 0.95, 0.60, 0.85, 0.90])
    assert spearman_of(x, y, range(5))(np.ones((1, 5)))[0, 0] == pytest.approx(-0.7)
    assert np.isnan(spearman_of(x, np.ones(5), range(5))(np.ones((1, 5)))[0, 0])


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3)), min_size=3, max_size=20))
def test_spearman_of_drawn_questions_is_that_of_the_drawn_pairs(points: list[tuple[int, int, int]]) -> None:
    x, y, owner = (np.array(side, dtype=float) for side in zip(*points, strict=True))
    drawn = np.array([[1, 0, 2, 1], [3, 1, 0, 0]], dtype=float)
    found = spearman_of(x, y, owner.astype(int).tolist())(drawn)[0]
    for value, counts in zip(found, drawn, strict=True):
        taken = np.repeat(np.arange(len(x)), counts[owner.astype(int)].astype(int))
        if len(taken) < 2 or not np.ptp(x[taken]) or not np.ptp(y[taken]):
            assert math.isnan(value)
        else:
            assert value == pytest.approx(stats.spearmanr(x[taken], y[taken]).statistic)


def test_of_one_point_of_each_question_p_is_that_of_a_permutation() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=30)
    y = 0.4 * x + rng.normal(size=30)
    p = spearman_test(x, y, range(30), [f"q{i}" for i in range(30)])
    assert p == pytest.approx(stats.spearmanr(x, y).pvalue, abs=0.01)
    order = rng.permutation(7)
    exact = stats.permutation_test(
        (order,), lambda own: stats.spearmanr(own, range(7)).statistic, permutation_type="pairings", n_resamples=6000
    )
    p = spearman_test(order.astype(float), np.arange(7.0), range(7), [f"q{i}" for i in range(7)])
    assert p == pytest.approx(exact.pvalue, abs=0.02)


def test_points_of_one_question_do_not_count_as_many() -> None:
    """Ten wordings that are alike say no more than one of them."""
    rng = np.random.default_rng(1)
    x, y, ids = rng.normal(size=12), rng.normal(size=12), [f"q{i}" for i in range(12)]
    alone = spearman_test(x, y, range(12), ids)
    owners = np.repeat(np.arange(12), 10)
    together = spearman_test(x[owners], y[owners], owners.tolist(), ids)
    assert alone is not None and together == pytest.approx(alone, abs=0.15)
    assert stats.spearmanr(x[owners], y[owners]).pvalue < alone / 4


def test_without_independence_between_wordings_the_level_is_kept() -> None:
    rng = np.random.default_rng(2)
    owners, ids = np.repeat(np.arange(12), 4), [f"q{i}" for i in range(12)]
    p_values = []
    for _ in range(200):
        x, y = (rng.normal(size=12)[owners] + rng.normal(size=48) for _ in range(2))
        p_values.append(spearman_test(x, y, owners.tolist(), ids))
    assert sum(p is not None and p < 0.05 for p in p_values) <= 20  # 10 expected at most


def test_what_leaves_no_doubt_when_any_question_is_left_out_is_not_tested() -> None:
    owners = np.repeat(np.arange(8), 2)
    assert spearman_test(owners * 1.0, owners * 2.0, owners.tolist(), [f"q{i}" for i in range(8)]) is None
