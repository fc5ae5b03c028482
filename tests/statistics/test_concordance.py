from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from shaketable.statistics.concordance import kendall


def censored(n: int, share: float, rho: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Normal scores with a correlation, the second on a grid of ten steps that ends where this share lies beyond."""
    first = rng.standard_normal(n)
    second = rho * first + np.sqrt(1 - rho**2) * rng.standard_normal(n)
    return first, np.digitize(second, stats.norm.ppf(np.linspace(0, 1 - share, 11)[1:])).astype(float)


def test_tau_and_its_test_are_scipys_with_ties() -> None:
    first, second = censored(40, 0.4, -0.5, np.random.default_rng(1))
    own, scipys = kendall(first, second, 0.95), stats.kendalltau(first, second)
    assert (own.tau, own.p) == pytest.approx((scipys.statistic, scipys.pvalue))


def test_where_one_side_does_not_vary_there_is_no_tau() -> None:
    assert np.isnan(kendall(np.arange(9.0), np.ones(9), 0.95).tau)
    assert np.isnan(kendall(np.array([]), np.array([]), 0.95).tau)


def test_perfect_order_of_few_is_not_infinite_evidence() -> None:
    perfect = kendall(np.arange(12.0), np.arange(12.0), 0.95)
    assert 0.5 < perfect.low < 0.95 and perfect.high == perfect.tau == 1
    assert np.isnan(kendall(np.arange(4.0), np.arange(4.0), 0.95).low)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6])
def test_the_interval_covers_the_tau_without_an_end_of_the_scale(share: float) -> None:
    """τ of normal scores is 2 / π · arcsin(ρ)."""
    rng, truth = np.random.default_rng(5), 2 / np.pi * np.arcsin(-0.5)
    intervals = [kendall(*censored(24, share, -0.5, rng), 0.95) for _ in range(300)]
    assert 0.92 < np.mean([own.low <= truth <= own.high for own in intervals]) < 0.995


def test_what_is_unrelated_is_rarely_called_related() -> None:
    rng = np.random.default_rng(6)
    assert np.mean([kendall(*censored(12, 0.5, 0.0, rng), 0.95).p < 0.05 for _ in range(400)]) < 0.08
