"""No interval leaves what its number can be: counts and times not below 0, shares of variance between 0 and 1."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import polars as pl
from few_resamples import few_tables
from hypothesis import given, settings
from score_rows import score_rows

from shaketable.analyses.evidence.dominance import dominance
from shaketable.analyses.together.variance_shares import variance_shares
from shaketable.statistics.intervals import Bootstrap, cut_interval, within
from shaketable.types import Estimate

FEW = Bootstrap(n_resamples=99)


def ends(estimate: Estimate) -> list[float]:
    return [number for number in (estimate.value, estimate.low, estimate.high) if number is not None]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=2, max_size=30), st.sampled_from(["count", "seconds"]))
def test_a_mean_of_counts_is_never_below_zero(counts: list[int], unit: str) -> None:
    ids = [str(i) for i in range(len(counts))]
    [estimate] = FEW.means(np.array([counts], dtype=float), ids, unit=unit)
    assert all(number >= 0 for number in ends(estimate))
    assert estimate.low <= estimate.value <= estimate.high


def test_a_difference_of_counts_may_be_negative() -> None:
    values = np.array([[-3.0, -2.0, -4.0, -3.0, -1.0]])
    [estimate] = FEW.means(values, list("abcde"), unit="count", is_difference=True)
    assert estimate.high < 0


def test_rare_searches_have_an_interval_from_zero() -> None:
    """One of ten questions searches three times: by t alone the interval would begin at −0.4."""
    [estimate] = FEW.means(np.array([[3.0] + [0.0] * 9]), [str(i) for i in range(10)], unit="count")
    assert (estimate.value, estimate.low) == (0.3, 0.0) and estimate.high > 0.3


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_shares_of_variance_lie_between_zero_and_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = rng.uniform(0, 1, size=(2, 2))
    table = pl.concat(
        [
            score_rows(
                {f"q{i}": tuple((rng.random(2) < p[row, column]).astype(float).tolist()) for i in range(9)},
                metric="correct",
                perturbation=perturbation,
                temperature=temperature,
            )
            for row, perturbation in enumerate(("unchanged", "sentence_removal"))
            for column, temperature in enumerate((0.0, 1.0))
        ]
    )
    tables = few_tables(table)
    shares = [own.share for own in variance_shares(tables).shares]
    for own in dominance(tables).weighings:
        shares += [own.temperature, own.evidence, own.interaction]
        spread = own.difference
        assert abs(spread.value or 0.0) > 1 or all(-1 <= number <= 1 for number in ends(spread))
    assert shares
    for share in shares:
        is_possible = share.value is None or 0 <= share.value <= 1
        assert not is_possible or all(0 <= number <= 1 for number in ends(share))
        assert share.low is None or share.low <= share.value <= share.high


def test_an_interval_is_cut_at_its_bounds() -> None:
    wide = Estimate(value=0.9, low=0.569, high=1.03, level=0.95, n=12, how="by hand", unit="ratio")
    assert ends(within(wide, 0, 1)) == ends(cut_interval(wide, 0, 1)) == [0.9, 0.569, 1.0]


def test_an_unbiased_value_below_zero_stays_in_the_data() -> None:
    """Shares add up to 1 with it; the page shows it as 0."""
    small = Estimate(value=-0.02, low=-0.3, high=1.2, level=0.95, n=12, how="by hand", unit="share")
    assert ends(cut_interval(small, 0, 1)) == [-0.02, -0.02, 1.0]
    assert ends(within(small, 0, 1)) == [0.0, 0.0, 1.0]
