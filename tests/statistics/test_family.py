from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import NormalIndPower

from shaketable.statistics.family import (
    detectable_effect,
    n_to_see,
    n_to_settle,
    n_to_show,
    standard_error,
    weighted_holm,
)
from shaketable.statistics.sign_flips import sign_flip

P_VALUES = st.lists(st.floats(1e-6, 1), min_size=1, max_size=12)


@given(P_VALUES)
def test_equal_weights_are_holm_as_statsmodels_has_it(p_values: list[float]) -> None:
    ours = weighted_holm(p_values, [0.5] * len(p_values), range(len(p_values)))
    assert ours == pytest.approx(multipletests(p_values, method="holm")[1])


def test_weights_are_worked_by_hand() -> None:
    """Ordered by p / weight: 0.02 / 4, then 0.006 / 1, then 0.5 / 1; of weights 6, 2 and 1."""
    assert weighted_holm([0.006, 0.02, 0.5], [1, 4, 1], "abc") == pytest.approx([0.03, 0.03, 0.5])


def test_hypotheses_that_exclude_each_other_count_once() -> None:
    assert weighted_holm([0.01, 0.04], [1, 1], "aa") == pytest.approx([0.01, 0.04])
    assert weighted_holm([0.01, 0.04, 0.2], [1, 1, 1], "aab") == pytest.approx([0.02, 0.08, 0.2])


@given(P_VALUES, st.data())
def test_an_adjusted_p_is_never_below_its_own(p_values: list[float], data: st.DataObject) -> None:
    weights = [data.draw(st.floats(0.05, 1)) for _ in p_values]
    adjusted = weighted_holm(p_values, weights, [data.draw(st.integers(0, 3)) for _ in p_values])
    assert all(p <= q + 1e-12 for p, q in zip(p_values, adjusted, strict=True))


def test_null_studies_rarely_hold_any_claim() -> None:
    rng = np.random.default_rng(0)
    weights, subjects = [1, 1, 0.1, 0.1, 0.1, 1], list("abcdef")
    wrong = sum(min(weighted_holm(list(rng.uniform(size=6)), weights, subjects)) < 0.05 for _ in range(4000))
    assert wrong / 4000 == pytest.approx(0.05, abs=0.012)


def test_what_could_have_been_seen_is_the_power_analysis_of_statsmodels() -> None:
    error = standard_error(0.1, 0.3, 0.95)
    seen = detectable_effect(error, 0.01)
    # One group of 100 with this error has a standard deviation of ten errors.
    power = NormalIndPower(ddof=0).power(seen / (10 * error), 100, 0.01, ratio=0)
    assert power == pytest.approx(0.8, abs=1e-6)


def test_four_times_the_questions_see_half_the_effect() -> None:
    assert n_to_settle(25, 0.1, 0.2) == 100
    assert n_to_settle(25, -0.1, 0.2) == 100
    assert n_to_settle(25, 0.0, 0.2) is None
    assert n_to_settle(25, 0.5, 0.2) == 26


@pytest.mark.parametrize(("sd", "effect", "alpha"), [(0.5, 0.2, 0.05), (1.0, 0.5, 0.01)])
def test_as_many_questions_as_needed_see_an_effect_four_times_in_five(sd: float, effect: float, alpha: float) -> None:
    """Differences drawn with this spread, tested by flipping signs; 0.8 within three errors of 400 draws, and a little
    for a test that does not know the spread."""
    rng, n, n_draws = np.random.default_rng(3), n_to_see(sd, effect, alpha), 400
    ids = [f"q{i}" for i in range(n)]
    seen = np.mean(np.array(sign_flip(rng.normal(effect, sd, (n_draws, n)), ids)) < alpha)
    assert 0.72 < seen < 0.86


def test_fewer_questions_than_these_show_nothing_whatever_they_say() -> None:
    """All of n differences on one side have p = 2^(1 - n): .0625 of 5, .03125 of 6."""
    assert n_to_show(0.05) == 6
    assert n_to_show(2**-5) == 7
    assert n_to_show(0.05 / 20) == 10
