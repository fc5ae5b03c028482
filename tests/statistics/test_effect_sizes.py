from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from shaketable.statistics.effect_sizes import p_of_difference, p_of_effects, partial_epsilon_squared
from shaketable.statistics.sign_flips import sign_flip


def test_two_temperatures_interact_as_far_as_their_difference_is_not_zero() -> None:
    """Of two temperatures the deviations from a question's mean are plus and minus half of their difference."""
    contrasts = np.random.default_rng(0).normal(0.3, 1, (3, 2, 12))
    questions = [f"q{i}" for i in range(12)]
    effects = contrasts - contrasts.mean(axis=1, keepdims=True)
    assert p_of_effects(effects, questions) == sign_flip(contrasts[:, 0] - contrasts[:, 1], questions)


@pytest.mark.parametrize("noises", [(1, 1, 1, 1), (0.3, 0.3, 0.5, 2)])
def test_the_test_of_interactions_keeps_its_level_also_where_heat_adds_noise(noises: tuple[float, ...]) -> None:
    """p values of 400 tables without interaction are spread evenly; a fixed seed, so this never flickers."""
    contrasts = np.random.default_rng(0).normal(size=(400, 4, 16)) * np.array(noises)[:, None]
    p = p_of_effects(contrasts - contrasts.mean(axis=1, keepdims=True), [f"q{i}" for i in range(16)])
    assert stats.kstest(p, "uniform").pvalue > 0.01


def test_draws_of_questions_that_do_not_vary_have_no_effect_and_where_none_varies_there_is_no_answer() -> None:
    effects = np.array([[0.5, 0.0, 0.0], [-0.5, 0.0, 0.0]])
    drawn = np.array([[1.0, 1, 1], [0, 2, 1]])
    assert partial_epsilon_squared([effects])(drawn)[0] == pytest.approx([0, 0])
    assert np.isnan(partial_epsilon_squared([np.zeros((2, 3))])(drawn)).all()
    assert p_of_difference(effects, np.zeros((2, 3)), ["a", "b", "c"]) is None
