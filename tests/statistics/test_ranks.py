from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from shaketable.statistics.ranks import rank_agreement, ranks_of


def test_kendalls_tau_is_that_of_scipy() -> None:
    rng = np.random.default_rng(1)
    drops = rng.integers(-2, 3, (5, 6, 1)).astype(float)  # Small integers tie often.
    first, second = np.triu_indices(6, k=1)
    expected = [stats.kendalltau(drops[:, a, 0], drops[:, b, 0]).statistic for a, b in zip(first, second, strict=True)]
    assert rank_agreement(drops, first, second)(np.ones((1, 1)))[:, 0] == pytest.approx(expected, nan_ok=True)


def test_ranks_put_the_largest_first_and_ties_alike_and_leave_out_what_is_not_known() -> None:
    values = np.array([[0.2, 0.5], [0.2 + 1e-15, np.nan], [0.1, 0.7]])
    assert ranks_of(values) == [[1, 2], [1, None], [3, 1]]
