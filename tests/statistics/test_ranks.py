from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from shaketable.statistics.ranks import interaction_test, rank_agreement, ranks_of


def test_the_interaction_test_tries_every_shuffle_of_a_small_table() -> None:
    """Worked by counting: 3 questions at 2 temperatures have 2³ equally likely tables."""
    contrasts = np.array([[[0.1, 0.3, 0.2], [-0.1, 0.1, 0.4]]])
    cool, hot = contrasts[0]
    spreads = []
    for swaps in product((False, True), repeat=3):
        first, second = np.where(swaps, hot, cool).mean(), np.where(swaps, cool, hot).mean()
        spreads.append(((np.array([first, second]) - (first + second) / 2) ** 2).sum())
    expected = np.mean(np.array(spreads) >= spreads[0] - 1e-12)
    assert interaction_test(contrasts, ["a", "b", "c"], 1000) == pytest.approx([expected])


def test_the_interaction_test_keeps_its_level_without_interaction() -> None:
    """p values of 200 tables without interaction are spread evenly; a fixed seed, so this never flickers."""
    rng = np.random.default_rng(0)
    p = interaction_test(rng.normal(size=(200, 4, 15)), [f"q{i}" for i in range(15)], 500)
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
