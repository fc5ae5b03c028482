"""The most of several, on draws whose truth is known."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from shaketable.statistics.simultaneous import joint_confidence, shrink

IDS = [f"q{i}" for i in range(60)]


def test_one_interval_needs_no_more_and_many_need_less_than_bonferroni() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(6, 60))
    assert joint_confidence(values[:1], IDS, 0.95) == pytest.approx(0.95, abs=0.01)
    # Independent ones by Šidák; alike ones count once.
    assert joint_confidence(values, IDS, 0.95) == pytest.approx(0.95 ** (1 / 6), abs=0.003)
    assert joint_confidence(np.repeat(values[:1], 6, axis=0), IDS, 0.95) == pytest.approx(0.95, abs=0.01)


def test_the_largest_deviation_is_that_of_correlated_normals() -> None:
    """Against scipy's integral of a normal of three dimensions, whose pairs correlate by one half, as losses against
    one original do."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(1, 4000)) + rng.normal(size=(3, 4000))
    confidence = joint_confidence(values, [f"q{i}" for i in range(4000)], 0.95)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    normal = stats.multivariate_normal(cov=np.full((3, 3), 0.5) + np.eye(3) / 2)
    assert normal.cdf([z] * 3, lower_limit=[-z] * 3) == pytest.approx(0.95, abs=0.008)


def test_the_largest_of_several_estimates_is_too_large_until_it_shrinks() -> None:
    rng = np.random.default_rng(2)
    raw, shrunken = [], []
    for _ in range(200):
        values = rng.normal(size=(1, 60)) / 2 + rng.normal(size=(6, 60))
        largest = values.mean(axis=1).argmax()
        raw.append(values[largest].mean())
        shrunken.append(shrink(values)[largest])
    assert np.mean(raw) > 0.12
    assert abs(np.mean(shrunken)) < 0.05


def test_what_really_differs_does_not_shrink() -> None:
    rng = np.random.default_rng(3)
    truth = np.array([0.0, 1.0, 2.0, 5.0])
    values = truth[:, None] + 0.1 * rng.normal(size=(4, 60))
    assert shrink(values) == pytest.approx(values.mean(axis=1), abs=0.01)


def test_a_question_without_a_value_is_left_out() -> None:
    values = np.array([[1.0, 2.0, np.nan, 3.0], [0.0, 2.0, 1.0, 1.0]])
    assert shrink(values).mean() == pytest.approx((2.0 + 1.0) / 2)
    assert 0.95 <= joint_confidence(values, ["a", "b", "c", "d"], 0.95) < 1
