from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from shaketable.statistics.ranks import interaction_test, rank_agreement, ranks_of
from shaketable.statistics.sign_flips import sign_flip


def test_two_temperatures_interact_as_far_as_their_difference_is_not_zero() -> None:
    """Of two temperatures the deviations from a question's mean are plus and minus half of their difference."""
    contrasts = np.random.default_rng(0).normal(0.3, 1, (3, 2, 12))
    questions = [f"q{i}" for i in range(12)]
    assert interaction_test(contrasts, questions) == sign_flip(contrasts[:, 0] - contrasts[:, 1], questions)


@pytest.mark.parametrize("noises", [(1, 1, 1, 1), (0.3, 0.3, 0.5, 2)])
def test_the_interaction_test_keeps_its_level_also_where_heat_adds_noise(noises: tuple[float, ...]) -> None:
    """p values of 400 tables without interaction are spread evenly; a fixed seed, so this never flickers."""
    contrasts = np.random.default_rng(0).normal(size=(400, 4, 16)) * np.array(noises)[:, None]
    p = interaction_test(contrasts, [f"q{i}" for i in range(16)])
    assert stats.kstest(p, "uniform").pvalue > 0.01


def test_kendalls_tau_is_that_of_scipy() -> None:
    rng = np.random.default_rng(1)
    drops = rng.integers(-2, 3, (5, 6, 1)).astype(float)  # Small integers tie often.
    first, second = np.triu_indices(6, k=1)
    expected = [stats.kendalltau(drops[:, a, 0], drops[:, b, 0]).statistic for a, b in zip(first, second, strict=True)]
    assert rank_agreement(drops, first, second)(np.ones((1, 1)))[:, 0] == pytest.approx(expected, nan_ok=True)


def test_ranks_put_the_largest_first_and_ties_alike_and_leave_out_what_is_not_known() -> None:
    values = np.array([[0.2, 0.5], [0.2 + 1e-15, np.nan], [0.1, 0.7]])
    assert ranks_of(values) == [[1, 2], [1, None], [3, 1]]
