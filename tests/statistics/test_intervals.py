from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

from shaketable.identity import seed_from
from shaketable.statistics.bounds import bound_means, p_equivalent, p_noninferior
from shaketable.statistics.differences import bound_differences
from shaketable.statistics.intervals import Bootstrap, Numbers, mean_of
from shaketable.statistics.resampling import resampled_bounds

BOOTSTRAP = Bootstrap()
SYMMETRIC = np.array([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0]) + 3
SKEWED = np.array([0.85, 0.84, 0.86, 0.3, 0.88, 0.83, 0.85, 0.87, 0.81, 0.9, 0.86, 0.84])


def ids(n: int) -> list[str]:
    return [f"q{i:03}" for i in range(n)]


def shares(n: int, n_lost: int, n_gained: int = 0) -> Numbers:
    return np.repeat([1.0, -1.0, 0.0], [n_lost, n_gained, n - n_lost - n_gained])


def exact(n: int, x: int, level: float = 0.95) -> tuple[float, float]:
    interval = stats.binomtest(x, n).proportion_ci(level, method="exact")
    return interval.low, interval.high


def test_the_mean_of_a_score_that_is_not_skewed_has_the_t_interval_of_scipy() -> None:
    (mean,) = BOOTSTRAP.means(SYMMETRIC[None], ids(6))
    expected = stats.ttest_1samp(SYMMETRIC, 0).confidence_interval()
    assert (mean.low, mean.high) == pytest.approx((expected.low, expected.high))
    assert mean.how == "t over questions, moved by their skewness"


def test_the_interval_of_a_skewed_score_follows_halls_cubic_where_that_reaches_further() -> None:
    n, skewness, error = len(SKEWED), stats.skew(SKEWED), stats.sem(SKEWED)
    t = stats.t.ppf(0.975, n - 1)
    ((low,), (high,)) = bound_means(SKEWED[None]).at(0.025)

    def cubic(studentized: float) -> float:
        """Hall 1992, equation 1.3 with the constants of a studentized mean."""
        a = skewness / 3
        return float(
            studentized + a * studentized**2 / n**0.5 + a**2 * studentized**3 / (3 * n) + skewness / 6 / n**0.5
        )

    assert cubic((SKEWED.mean() - low) / error) == pytest.approx(t)
    assert SKEWED.mean() - low > t * error, "The disaster is below, so the mean may be far lower."
    assert high - SKEWED.mean() == pytest.approx(t * error), "Above t is wider."


def test_losses_without_gains_are_bounded_by_the_exact_binomial_interval() -> None:
    for n_lost in (0, 1, 5, 12):
        ((_,), (high,)) = bound_differences(shares(12, n_lost)[None], is_share=True).at(0.025)
        assert high == pytest.approx(exact(12, n_lost)[1])


def test_losses_and_gains_are_combined_by_the_squares_of_their_exact_bounds() -> None:
    """8 of 60 lose, 3 gain, worked by hand from the exact bounds of 8/60 and 3/60, whose correlation is
    −√(8·3 / (52·57))."""
    (loss,) = BOOTSTRAP.means(shares(60, 8, 3)[None], ids(60), unit="share", is_difference=True)
    (fewest_lost, most_lost), (fewest_gained, most_gained) = exact(60, 8), exact(60, 3)
    lost, gained, correlation = 8 / 60, 3 / 60, -np.sqrt(8 * 3 / (52 * 57))
    below, other_below = lost - fewest_lost, most_gained - gained
    above, other_above = most_lost - lost, gained - fewest_gained
    low = lost - gained - np.sqrt(below**2 + other_below**2 - 2 * correlation * below * other_below)
    high = lost - gained + np.sqrt(above**2 + other_above**2 - 2 * correlation * above * other_above)
    assert (loss.value, loss.low, loss.high) == pytest.approx((5 / 60, low, high))
    assert loss.how == "exact bounds of losses and gains over questions"


def test_a_difference_of_shares_is_close_to_bonett_and_price() -> None:
    """Their interval (2012) adds one loss and one gain to n + 2 questions; ours is exact, so a little wider."""
    n, lost, gained = 200, 30, 12
    (ours,) = BOOTSTRAP.means(shares(n, lost, gained)[None], ids(n), unit="share", is_difference=True)
    p, q = (lost + 1) / (n + 2), (gained + 1) / (n + 2)
    half = stats.norm.ppf(0.975) * np.sqrt((p + q - (p - q) ** 2) / (n + 2))
    assert (ours.low, ours.high) == pytest.approx((p - q - half, p - q + half), abs=0.006)
    assert ours.low is not None and ours.high is not None and ours.high - ours.low > 2 * half


def test_averaged_runs_are_worth_more_than_one_and_no_more_than_there_were() -> None:
    thirds, wholes = np.repeat([1 / 3, 0], [12, 48]), np.repeat([1.0, 0], [4, 56])
    few, many = (np.ptp(bound_differences(values[None], is_share=True).at(0.025)) for values in (wholes, thirds))
    single = bound_differences(wholes[None], is_share=True).exact.losses
    triple = bound_differences(thirds[None], is_share=True).exact.losses
    assert single.n == pytest.approx(60) and 2.5 * 60 < triple.n[0] <= 3 * 60
    assert many < 0.75 * few


@pytest.mark.parametrize("values", [np.zeros(12), np.append(np.zeros(11), 0.4)])
def test_scores_of_which_few_differ_are_no_endless_evidence(values: Numbers) -> None:
    (difference,) = BOOTSTRAP.means(values[None], ids(12), is_difference=True)
    assert difference.low is not None and difference.high is not None
    assert difference.high - difference.low > 1.5 * exact(12, 0)[1]


def test_where_all_scores_lose_the_same_others_may_lose_nothing_or_all() -> None:
    (loss,) = BOOTSTRAP.means(np.full((1, 12), 0.02), ids(12), is_difference=True)
    may_differ = exact(12, 0)[1]
    assert (loss.low, loss.high) == pytest.approx((0.02 * (1 - may_differ), 0.02 + may_differ))


def test_scores_that_agree_leave_open_how_many_others_do() -> None:
    (level,) = BOOTSTRAP.means(np.ones((1, 12)), ids(12))
    assert (level.low, level.high) == pytest.approx((1 - exact(12, 0)[1], 1))
    (seconds,) = BOOTSTRAP.means(np.ones((1, 12)), ids(12), unit="seconds")
    assert (seconds.low, seconds.high) == (1, 1), "There is no telling how long another question may take."


def test_each_condition_is_bounded_by_the_questions_it_has() -> None:
    values = np.stack([SKEWED, SKEWED])
    values[1, 3] = np.nan
    whole, part = BOOTSTRAP.means(values, ids(12))
    (alone,) = BOOTSTRAP.means(np.delete(SKEWED, 3)[None], ids(11))
    assert (part.value, part.low, part.high) == pytest.approx((alone.value, alone.low, alone.high))
    assert part.n == 11 and whole.n == 12


def test_conditions_without_questions_or_with_a_single_one_have_no_interval() -> None:
    values = np.array([[0.5, np.nan], [np.nan, np.nan]])
    for unit, is_difference in (("share", True), ("share", False), ("score", True), ("score", False)):
        single, none = BOOTSTRAP.means(values, ids(2), unit=unit, is_difference=is_difference)
        assert (single.value, single.low, single.high) == (0.5, None, None)
        assert (none.value, none.reason) == (None, "no scores")


def test_two_groups_that_are_not_skewed_have_the_interval_of_welch() -> None:
    first, second = SYMMETRIC, 2 * SYMMETRIC[:-1] - 1
    second = np.concatenate([second, 2 * second.mean() - second])
    difference = BOOTSTRAP.difference(first, second)
    expected = CompareMeans(DescrStatsW(first), DescrStatsW(second)).tconfint_diff(usevar="unequal")
    assert (difference.low, difference.high) == pytest.approx(expected)
    assert BOOTSTRAP.difference(first, second[:1]).low is None


def test_a_bca_interval_is_that_of_scipy_save_that_few_questions_make_it_wider(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(3).gamma(2, 1, 40)

    def spread(drawn: Numbers) -> Numbers:
        mean = mean_of(values[None])
        return np.sqrt(mean_of(values[None] ** 2)(drawn) - mean(drawn) ** 2) / mean(drawn)

    ours = resampled_bounds(spread, ids(40), 2000, 0.95, "bca")[0]
    monkeypatch.setattr("shaketable.statistics.resampling._expanded", lambda tails, n: stats.norm.ppf(tails))
    plain = resampled_bounds(spread, ids(40), 2000, 0.95, "bca")[0]
    expected = stats.bootstrap(
        (values,),
        lambda sample, axis: sample.std(axis=axis) / sample.mean(axis=axis),
        n_resamples=2000,
        method="BCa",
        rng=np.random.default_rng(seed_from("bootstrap", *ids(40))),
    ).confidence_interval
    assert plain == pytest.approx([expected.low, expected.high], abs=1e-3)
    assert ours[0] < plain[0] and plain[1] < ours[1]


def test_percentiles_are_those_of_scipy() -> None:
    expected = stats.bootstrap(
        (SKEWED,),
        np.mean,
        n_resamples=500,
        method="percentile",
        rng=np.random.default_rng(seed_from("bootstrap", *ids(12))),
    ).confidence_interval
    bounds = resampled_bounds(mean_of(SKEWED[None]), ids(12), 500, 0.95, "percentile")[0]
    assert bounds == pytest.approx([expected.low, expected.high])


def test_expanded_percentiles_of_twelve_questions_are_those_of_a_wider_level() -> None:
    """√(12/11) times the t quantile of 11 degrees, 2.201, is 2.2989: a normal tail of 0.010755 on either side."""
    expanded = resampled_bounds(mean_of(SKEWED[None]), ids(12), 500, 0.95, "expanded")[0]
    wider = resampled_bounds(mean_of(SKEWED[None]), ids(12), 500, 1 - 2 * 0.010755, "percentile")[0]
    assert expanded == pytest.approx(wider, abs=1e-4)


def test_leaving_out_groups_of_many_questions_accelerates_as_single_ones_do(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(3).lognormal(0, 1, 400)
    bounds = resampled_bounds(mean_of(values[None]), ids(400), 2000, 0.95, "bca")[0]
    monkeypatch.setattr("shaketable.statistics.resampling.MOST_LEFT_OUT", 400)
    singly = resampled_bounds(mean_of(values[None]), ids(400), 2000, 0.95, "bca")[0]
    assert bounds == pytest.approx(singly, abs=0.02 * np.ptp(singly))


def test_a_statistic_that_some_draws_leave_undefined_has_no_bounds() -> None:
    values = np.append(np.zeros(9), 1.0)
    with np.errstate(invalid="ignore"):
        (ratio,) = BOOTSTRAP.statistics(lambda drawn: (values @ drawn.T / (values @ drawn.T))[None], ids(10), 1)
    assert (ratio.value, ratio.low, ratio.high) == (1, None, None)


def test_p_of_equivalence_is_that_of_two_t_tests_where_nothing_is_skewed() -> None:
    differences = (SYMMETRIC - 3) / 100
    upper = stats.ttest_1samp(differences, 0.01, alternative="less").pvalue
    assert p_noninferior(bound_means(differences[None]), 0.01) == pytest.approx([upper])
    assert p_equivalent(bound_means(differences[None]), 0.01) == pytest.approx([upper])
    assert p_equivalent(bound_means(differences[None] + 0.005), 0.01) > upper


def test_p_of_shares_that_agree_is_the_chance_that_no_loss_is_seen() -> None:
    assert p_noninferior(bound_differences(np.zeros((1, 60)), is_share=True), 0.05) == pytest.approx([0.95**60])


@pytest.mark.parametrize("is_share", [True, False])
def test_three_questions_that_agree_are_not_equivalent(is_share: bool) -> None:
    assert p_equivalent(bound_differences(np.zeros((1, 3)), is_share), 0.05) == [1.0]
    assert np.isnan(p_equivalent(bound_differences(np.zeros((1, 1)), is_share), 0.05))


def test_p_is_below_alpha_exactly_where_the_interval_lies_inside_the_margin() -> None:
    rng = np.random.default_rng(1)
    values = rng.choice([1 / 3, 0, -1 / 3], (50, 80), p=[0.06, 0.88, 0.06])
    bounded = bound_differences(values, is_share=True)
    low, high = bounded.at(0.05)
    inside = (low > -0.05) & (high < 0.05)
    assert 0 < inside.sum() < 50
    assert ((p_equivalent(bounded, 0.05) < 0.05) == inside).all()


@pytest.mark.parametrize(("n", "runs"), [(8, 1), (12, 3), (60, 1), (60, 3)])
def test_intervals_of_lost_shares_cover(n: int, runs: int) -> None:
    rng = np.random.default_rng(n + runs)
    for lost, gained in ((0.05, 0.0), (0.2, 0.0), (0.1, 0.05), (0.5, 0.3)):
        drawn = rng.choice([1.0, -1.0, 0.0], (1000, n, runs), p=[lost, gained, 1 - lost - gained]).mean(axis=-1)
        low, high = bound_differences(drawn, is_share=True).at(0.025)
        assert ((low <= lost - gained) & (lost - gained <= high)).mean() > 0.93
        assert (bound_differences(drawn, is_share=True).at(0.05)[1] < lost - gained).mean() < 0.07


@pytest.mark.parametrize("n", [3, 12, 24, 60, 200])
def test_equivalence_at_the_margin_is_rarely_claimed(n: int) -> None:
    lost = (np.random.default_rng(n).random((1000, n)) < 0.05).astype(float)
    almost = lost + 1e-5 * np.random.default_rng(n).standard_normal((1000, n))
    for values, is_share in ((lost, True), (lost, False), (almost, False)):
        assert (p_equivalent(bound_differences(values, is_share), 0.05) < 0.05).mean() < 0.065


@pytest.mark.parametrize(("n", "least"), [(8, 0.92), (12, 0.92), (24, 0.93), (60, 0.94)])
def test_intervals_of_mean_scores_cover_where_scores_are_normal_or_skewed(n: int, least: float) -> None:
    rng = np.random.default_rng(n)
    for values, truth in ((rng.standard_normal((2000, n)), 0), (rng.exponential(1, (2000, n)), 1)):
        low, high = bound_means(values).at(0.025)
        assert ((low <= truth) & (truth <= high)).mean() > least


@pytest.mark.parametrize("n", [8, 12, 24, 60, 200])
def test_mean_scores_cover_though_small_samples_hold_no_disaster(n: int) -> None:
    """8 % of the questions are disasters, which 37 % of the samples of 12 do not have."""
    rng = np.random.default_rng(n)
    is_disaster = rng.random((500, n)) < 0.08
    skewed = rng.normal(np.where(is_disaster, 0.3, 0.85), 0.05)
    for values, truth in ((skewed, 0.806), (rng.normal(0.7, 0.1, (500, n)), 0.7)):
        estimates = BOOTSTRAP.means(np.clip(values, 0, 1), [str(i) for i in range(n)])
        covers = [low <= truth <= high for low, high in ((own.low or 0, own.high or 0) for own in estimates)]
        assert np.mean(covers) > 0.94


def test_two_more_questions_at_the_far_end_are_worked_by_hand() -> None:
    """The t interval of 0.6, 0.7, 0.8 is 0.7 ± 0.248; two more at 0 move its lower end by 2 × 0.7 / 5."""
    (score,) = BOOTSTRAP.means(np.array([[0.6, 0.7, 0.8]]), ["a", "b", "c"])
    assert (score.low, score.high) == (pytest.approx(0.7 - 0.2484 - 0.28, abs=1e-4), pytest.approx(0.9484, abs=1e-4))
