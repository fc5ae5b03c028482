from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from shaketable.statistics.intervals import Numbers
from shaketable.statistics.sign_flips import sign_flip, sign_flip_series, sign_flip_vectors


def ids(n: int) -> list[str]:
    return [f"q{i}" for i in range(n)]


def exact_p(differences: Numbers) -> float:
    """scipy's, of all flips; its sums differ in their last bits, so values are given as whole numbers."""
    return float(
        stats.permutation_test(
            (differences,),
            lambda sample, axis: sample.sum(axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=2 ** len(differences),
            batch=10_000,
        ).pvalue
    )


@pytest.mark.parametrize(
    ("n_lost", "n_won", "n_same"), [(6, 0, 54), (5, 1, 0), (13, 4, 40), (2, 2, 1), (200, 100, 2700)]
)
def test_one_run_of_right_and_wrong_is_mcnemars_exact_test(n_lost: int, n_won: int, n_same: int) -> None:
    values = np.repeat([1.0, -1.0, 0.0], [n_lost, n_won, n_same])
    (p,) = sign_flip(values[None], ids(len(values)))
    assert p == pytest.approx(stats.binomtest(n_lost, n_lost + n_won).pvalue)


def test_mcnemars_test_of_a_published_table_comes_out() -> None:
    """Fagerland, Lydersen and Laake 2013, airway hyper-responsiveness of 21 children: 1 and 7 discordant, p 0.0703."""
    (p,) = sign_flip(np.repeat([1.0, -1.0, 0.0], [1, 7, 13])[None], ids(21))
    assert p == pytest.approx(0.0703, abs=5e-5)


def test_darwins_plants_come_out() -> None:
    """Fisher 1935, The Design of Experiments, section 21: 863 and 863 of the 2^15 flips of the 15 differences in height
    reach the observed sum."""
    differences = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48], dtype=float)
    (p,) = sign_flip(differences[None], ids(15))
    assert p == pytest.approx(2 * 863 / 2**15)


@pytest.mark.parametrize("n_runs", [2, 3, 5])
def test_means_of_several_runs_are_tested_exactly(n_runs: int) -> None:
    steps = np.random.default_rng(n_runs).integers(-1, n_runs + 1, 16)
    (p,) = sign_flip(np.round(steps / n_runs, 12)[None], ids(16))
    assert p == pytest.approx(exact_p(steps))


def test_few_scores_are_tested_exactly() -> None:
    scores = np.random.default_rng(0).normal(0.5, 1, 11)
    (p,) = sign_flip(scores[None], ids(11))
    assert p == pytest.approx(exact_p(scores))


def test_many_scores_are_tested_by_drawn_flips() -> None:
    scores = np.random.default_rng(1).normal(0.4, 1, 17)
    (p,) = sign_flip(scores[None], ids(17))
    exact = exact_p(scores)
    assert p == pytest.approx(exact, abs=4 * np.sqrt(exact / 10_000))


@pytest.mark.parametrize("strength", [0.7, 0.8, 0.9])
def test_a_p_smaller_than_drawn_flips_can_show_is_computed(strength: float) -> None:
    """Exact by adding one question after the other to the distribution of the sum."""
    rng = np.random.default_rng(int(strength * 10))
    sizes = rng.integers(1, 400, 60)
    values = np.where(rng.random(60) < strength, sizes, -sizes)
    total = int(sizes.sum())
    chances = np.zeros(2 * total + 1)
    chances[total] = 1
    for size in sizes:
        chances = (np.roll(chances, size) + np.roll(chances, -size)) / 2
    exact = 2 * chances[total + values.sum() :].sum()
    (p,) = sign_flip(values[None].astype(float), ids(60))
    assert exact < 1e-4
    assert p == pytest.approx(exact, rel=0.02)


def test_differences_on_one_side_have_the_least_p_that_there_is() -> None:
    (p,) = sign_flip(np.random.default_rng(0).uniform(1, 2, (1, 30)), ids(30))
    assert p == pytest.approx(2.0**-29)


def test_nothing_but_zeros_speaks_for_no_difference_and_no_questions_for_nothing() -> None:
    assert sign_flip(np.zeros((1, 5)), ids(5)) == [1]
    assert np.isnan(sign_flip(np.full((1, 5), np.nan), ids(5)))
    assert sign_flip_vectors(np.zeros((2, 5)), ids(5)) == 1
    assert np.isnan(sign_flip_vectors(np.full((2, 5), np.nan), ids(5)))


def test_zeros_and_missing_questions_change_nothing() -> None:
    scores = np.random.default_rng(2).normal(0.3, 1, (1, 20))
    gapped = np.hstack([scores, [[0.0, np.nan]]])
    assert sign_flip(gapped, ids(22)) == sign_flip(scores, ids(20))
    assert sign_flip_series(gapped[None], ids(22)) == sign_flip_series(scores[None], ids(20))


def test_neither_order_nor_company_changes_a_p() -> None:
    scores = np.random.default_rng(3).normal(0.3, 1, (4, 20))
    together = sign_flip(scores, ids(20))
    assert [sign_flip(row[None], ids(20))[0] for row in scores] == together
    assert sign_flip(scores[::-1, ::-1], ids(20)[::-1]) == together[::-1]


def test_vectors_of_a_few_questions_are_tested_by_all_flips() -> None:
    """Worked by counting the flips of 5 questions."""
    effects = np.random.default_rng(4).normal(0.5, 1, (3, 5))
    squares = (effects**2).sum(axis=1)

    def statistic(signs: tuple[int, ...]) -> float:
        return float((((effects * signs).sum(axis=1)) ** 2 / squares).sum())

    reached = [statistic(signs) >= statistic((1,) * 5) - 1e-12 for signs in product((1, -1), repeat=5)]
    assert sign_flip_vectors(effects, ids(5)) == pytest.approx(np.mean(reached))


def test_a_vector_of_one_level_is_tested_as_a_difference() -> None:
    scores = np.random.default_rng(5).normal(0.3, 1, (3, 20))
    assert sign_flip_series(scores[:, None], ids(20)) == sign_flip(scores, ids(20))


@pytest.mark.parametrize("n", [8, 12, 24, 60])
@pytest.mark.parametrize("kind", ["normal", "skewed", "shares", "shares of three runs"])
def test_without_an_effect_one_in_twenty_is_called_one(n: int, kind: str) -> None:
    """Conditions that are alike differ symmetrically, whatever the scores are like. 1,000 draws: 5 % ± 0.7 %."""
    rng = np.random.default_rng(n)
    first, second = {
        "normal": lambda: rng.normal(size=(2, 1000, n)),
        "skewed": lambda: rng.lognormal(0, 1, (2, 1000, n)),
        "shares": lambda: rng.binomial(1, 0.8, (2, 1000, n)).astype(float),
        "shares of three runs": lambda: rng.binomial(3, 0.8, (2, 1000, n)) / 3,
    }[kind]()
    ps = np.array(sign_flip(np.round(first - second, 12), ids(n)))
    assert (ps < 0.05).mean() <= 0.072
    assert (ps < 0.005).mean() <= 0.012
    if "shares" not in kind:
        assert (ps < 0.05).mean() >= 0.028


@pytest.mark.parametrize("noises", [(1, 1, 1, 1), (0.3, 0.3, 0.5, 2)])
def test_vectors_keep_their_level_also_where_levels_differ_in_noise(noises: tuple[float, ...]) -> None:
    effects = np.random.default_rng(6).normal(size=(600, 4, 12)) * np.array(noises)[:, None]
    ps = np.array(sign_flip_series(effects - effects.mean(axis=1, keepdims=True), ids(12)))
    assert 0.025 <= (ps < 0.05).mean() <= 0.08


@pytest.mark.parametrize("loss", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("n", [60, 200])
def test_a_planted_loss_is_found_as_often_as_by_the_paired_t_test(n: int, loss: float) -> None:
    """Of scores with the noise of a BERTScore; 500 draws, so 5 points are more than two standard errors."""
    drops = np.random.default_rng(n).normal(loss, 0.35, (500, n))
    found = (np.array(sign_flip(drops, ids(n))) < 0.05).mean()
    assert found >= (stats.ttest_1samp(drops, 0, axis=1).pvalue < 0.05).mean() - 0.02


def test_dust_is_no_difference() -> None:
    values = np.array([[1 / 3, 0.0, 1 / 3, 0.0, 0.0], [1 / 3, 1e-17, 1 / 3, -1e-17, 0.0]])
    first, second = sign_flip(values, ids(5))
    assert first == second == 0.5


@pytest.mark.parametrize("loss", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("n", [60, 200])
def test_of_shares_a_planted_loss_is_found_as_often_as_by_the_paired_t_test_at_the_same_error(
    n: int, loss: float
) -> None:
    """By counting all that n questions may lose and gain, where 5 % are lost and gained by chance. With as many that
    differ and no loss the t test errs up to twice as often; it is held to the error of the exact test."""
    lost, gained = (side.ravel() for side in np.meshgrid(np.arange(n + 1), np.arange(n + 1)))
    lost, gained = lost[lost + gained <= n], gained[lost + gained <= n]
    outcomes = np.stack([lost, gained, n - lost - gained], axis=-1)
    even, churn = loss / 2 + 0.05, 0.05
    by_chance = stats.multinomial.pmf(outcomes, n, [even, even, 1 - 2 * even])
    planted = stats.multinomial.pmf(outcomes, n, [loss + churn, churn, 1 - loss - 2 * churn])
    exact = stats.binom.sf(np.maximum(lost, gained) - 1, lost + gained, 0.5) < 0.025
    squares = (lost - gained) ** 2
    size = np.round(squares / np.maximum(n * (lost + gained) - squares, 1), 9)  # Grows with |t|.
    order = np.argsort(-size, kind="stable")
    error_of = dict(zip(size[order], np.cumsum(by_chance[order]), strict=True))
    by_t = size >= min(own for own, error in error_of.items() if error <= by_chance[exact].sum())
    assert planted[exact].sum() >= planted[by_t].sum() - 0.05
