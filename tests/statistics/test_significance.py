from __future__ import annotations

import numpy as np
import pytest
from made_study import DROPS
from scipy import stats

from shaketable.identity import seed_from
from shaketable.statistics.hodges_lehmann import shift, shift_estimates
from shaketable.statistics.intervals import Bootstrap
from shaketable.statistics.significance import signed_rank, two_groups

D = np.array(DROPS)


def test_the_signed_rank_test_of_the_worked_example_comes_out() -> None:
    statistic, p = signed_rank(D)
    assert statistic == 52
    assert p == pytest.approx(0.0048828, abs=1e-7)
    # The two-sided test of an exact symmetric distribution has twice that.
    assert 2 * p == pytest.approx(0.0097656, abs=1e-7)


def test_mean_and_deviation_of_the_worked_example_come_out() -> None:
    assert D.mean() == pytest.approx(0.0081)
    assert D.std(ddof=1) == pytest.approx(0.0069992, abs=1e-7)


def test_zeros_say_nothing() -> None:
    assert signed_rank(np.append(D, [0.0, 0.0])) == signed_rank(D)
    assert signed_rank(np.zeros(5)) == (0, 1)


@pytest.mark.parametrize("values", [(1, 1, -1, 2, 2, 3), (0, 2, 2, 2, -1, -1, -3), (1, 1), tuple(range(1, 9))])
def test_ties_of_a_few_differences_are_tested_as_scipy_does(values: tuple[int, ...]) -> None:
    told = np.array([value for value in values if value], dtype=float)
    expected = stats.wilcoxon(told, alternative="greater")
    assert signed_rank(np.array(values, dtype=float)) == pytest.approx((expected.statistic, expected.pvalue))


def test_the_shift_of_the_worked_example_comes_out() -> None:
    assert shift(D) == pytest.approx(0.0085)


@pytest.mark.parametrize(("n", "step"), [(2, 0), (3, 0), (10, 0), (11, 0.25), (40, 0.1)])
def test_the_interval_of_the_shift_is_that_of_plain_resampling(n: int, step: float) -> None:
    """Shifts of every resample, one by one; ties where values are rounded to steps."""
    values = np.random.default_rng(n).normal(0.1, 1, n)
    values = np.round(np.round(values / step) * step if step else values, 12)
    ids = [f"q{i:02}" for i in range(n)]
    (estimate,) = shift_estimates(values[None], ids, Bootstrap(confidence=0.9, n_resamples=501))
    low, high = estimate.low, estimate.high
    assert (estimate.value, estimate.n) == (shift(values), n)
    drawn = np.random.default_rng(seed_from("bootstrap", *ids)).integers(0, n, (501, n))
    lower, upper = [], []
    for sample in values[drawn]:
        first, second = np.triu_indices(n)
        averages = np.sort((sample[first] + sample[second]) / 2)
        lower.append(averages[(len(averages) + 1) // 2 - 1])
        upper.append(averages[len(averages) // 2])
    assert low == pytest.approx(np.quantile(lower, 0.05, method="inverted_cdf"), abs=1e-12)
    assert high == pytest.approx(np.quantile(upper, 0.95, method="inverted_cdf"), abs=1e-12)


@pytest.mark.parametrize("n", [2, 7, 60])
@pytest.mark.parametrize("kind", ["any number", "thirds", "tenths"])
def test_the_shift_of_many_values_is_found_without_their_averages(n: int, kind: str, monkeypatch) -> None:
    rng = np.random.default_rng(n)
    drawn = rng.normal(size=n)
    values = {"any number": drawn, "thirds": np.round(drawn * 3) / 3, "tenths": np.round(drawn, 1)}[kind]
    one, other = np.triu_indices(n)
    assert shift(values) == pytest.approx(float(np.median((values[one] + values[other]) / 2)), abs=1e-12)
    asked = values[None], [f"q{i}" for i in range(n)], Bootstrap(confidence=0.9, n_resamples=501)
    (paired,) = shift_estimates(*asked)
    monkeypatch.setattr("shaketable.statistics.hodges_lehmann.MOST_PAIRED", 0)
    (halved,) = shift_estimates(*asked)
    for told in ("value", "low", "high"):
        assert getattr(halved, told) == pytest.approx(getattr(paired, told), abs=1e-12)


def test_the_interval_of_the_shift_agrees_with_that_of_scipy() -> None:
    """scipy's bootstrap interpolates between order statistics, hence the tolerance."""
    values = np.round(np.random.default_rng(0).normal(0.01, 0.02, 30), 12)
    ids = [f"q{i:02}" for i in range(30)]
    (estimate,) = shift_estimates(values[None], ids, Bootstrap(confidence=0.95, n_resamples=2000))
    low, high = estimate.low, estimate.high
    expected = stats.bootstrap(
        (values,),
        lambda sample: shift(np.asarray(sample)),
        vectorized=False,
        n_resamples=2000,
        method="percentile",
        rng=np.random.default_rng(seed_from("bootstrap", *ids)),
    ).confidence_interval
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=2e-4)


def test_questions_without_a_value_are_left_out_of_the_shift() -> None:
    ids = [f"q{i}" for i in range(11)]
    bootstrap = Bootstrap(confidence=0.95, n_resamples=200)
    (whole,) = shift_estimates(D[None], ids[:10], bootstrap)
    (gapped,) = shift_estimates(np.append(D, np.nan)[None], ids, bootstrap)
    assert gapped == whole
    assert gapped.n == 10


def test_two_small_groups_are_tested_by_shuffles() -> None:
    """Of the 20 ways to deal 6 questions into two threes, this one and its mirror image lie that far apart."""
    assert two_groups(np.array([1.0, 2, 3]), np.array([4.0, 5, 7])) == pytest.approx(2 / 20, abs=0.01)


def test_two_groups_are_tested_as_scipy_shuffles_welchs_t() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(0, 1, 30), rng.normal(1.2, 2, 12)
    shuffled = stats.PermutationMethod(n_resamples=9_999, rng=rng)
    expected = stats.ttest_ind(first, second, equal_var=False, method=shuffled).pvalue
    assert two_groups(first, second) == pytest.approx(expected, abs=0.02)


def test_large_groups_are_tested_by_welchs_t() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.normal(0, 1, 300), rng.normal(0.1, 2, 250)
    assert two_groups(first, second) == stats.ttest_ind(first, second, equal_var=False).pvalue


def test_groups_without_noise_are_far_apart_or_alike_and_one_question_says_nothing() -> None:
    assert two_groups(np.ones(5), np.zeros(6)) == pytest.approx(1 / 462, abs=0.002)  # One of all deals.
    assert two_groups(np.ones(5), np.ones(6)) == 1
    assert np.isnan(two_groups(np.ones(1), np.zeros(6)))


@pytest.mark.parametrize(("n", "sd"), [((12, 12), 1.0), ((8, 24), 3.0), ((24, 8), 3.0)])
def test_two_groups_keep_their_level_also_where_they_differ_in_size_and_noise(n: tuple[int, int], sd: float) -> None:
    """200 draws: 5 % ± 1.5 %."""
    rng = np.random.default_rng(2)
    ps = np.array([two_groups(rng.normal(size=n[0]), rng.normal(0, sd, n[1])) for _ in range(200)])
    assert (ps < 0.05).mean() <= 0.1
