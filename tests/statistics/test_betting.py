"""E-values and confidence sequences: against a slow one written otherwise, and by simulation at every moment."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shaketable.statistics.betting import (
    CLAIMING,
    STAKES,
    chance_to_claim,
    confidence_sequence,
    detectable_mean,
    e_value,
    e_value_needed,
    is_claimed,
    log_evidence,
    lower_bound,
    n_to_claim,
)

VALUES = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=1, max_size=12)


def slow_evidence(values, mean):
    """By the definition, in exact fractions: a bettor for each stake, whose money is multiplied value by value."""
    won = []
    for stake in STAKES:
        money = Fraction(1)
        for value in values:
            share = (Fraction(value) - Fraction(mean)) / (1 + Fraction(mean))
            money *= 1 + Fraction(str(stake)) * share
        won.append(money)
    return sum(won) / len(won)


@given(VALUES, st.sampled_from([-0.75, -0.25, 0.0, 0.5]))
def test_evidence_is_what_bettors_win_by_its_definition(values, mean):
    assert log_evidence(values, mean) == pytest.approx(math.log(slow_evidence(values, mean)), abs=1e-9)


@settings(max_examples=3)
@given(VALUES)
def test_the_lower_bound_is_the_last_mean_that_a_grid_rejects(values):
    grid = [i / 100 for i in range(-99, 100)]
    rejected = [mean for mean in grid if slow_evidence(values, mean) >= 20]
    assert lower_bound(values, 0.05) == pytest.approx(max(rejected, default=-1.0), abs=0.0101)


@given(VALUES)
def test_what_is_claimed_is_what_the_interval_says(values):
    low, high = confidence_sequence(values, 0.05)
    assert -1 <= low <= high <= 1
    assert is_claimed(values, 0.05) == (low >= 0)
    assert low <= np.mean(values) <= high


def test_order_does_not_matter():
    values = [1.0, 0.0, -1.0, 0.5]
    assert len({round(log_evidence(order), 9) for order in itertools.permutations(values)}) == 1


def path(values, mean):
    """The evidence against a mean after each value: sequences × moments."""
    won = np.cumsum(np.log1p(STAKES[:, None, None] * (values - mean) / (1 + mean)), axis=2)
    return np.log(np.exp(won).mean(axis=0))


def ever_outside(values, mean, error):
    """The share of sequences whose interval leaves out the truth at any moment: a bound has passed the mean exactly
    when the evidence against it reaches the bar."""
    above, below = path(values, mean), path(-values, -mean)
    assert above[0, -1] == pytest.approx(log_evidence(values[0], mean))
    is_outside = (above >= -math.log(CLAIMING * error)) | (below >= -math.log((1 - CLAIMING) * error))
    return is_outside.any(axis=1).mean()


def rare(rng, n):
    return (rng.random(n) < 0.05).astype(float)


def even(rng, n):
    return rng.choice([-1.0, 0.0, 1.0], size=n, p=[0.2, 0.6, 0.2])


def halves(rng, n):
    return rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], size=n, p=[0.05, 0.15, 0.3, 0.3, 0.2])


@pytest.mark.parametrize(("draw", "mean"), [(rare, 0.05), (even, 0.0), (halves, 0.225)])
def test_intervals_hold_the_truth_at_every_moment(draw, mean):
    values = draw(np.random.default_rng(7), (2000, 300))
    # Of 2,000 sequences, a true share of 10 % shows as 12 % or more once in a thousand times.
    assert ever_outside(values, mean, error=0.1) < 0.12


def test_a_fixed_sample_interval_looked_at_all_the_time_would_miss():
    """The same simulation can fail: looking at a plain 90 % interval after each value leaves out the truth often."""
    values = even(np.random.default_rng(7), (2000, 300))
    n = np.arange(1, 301)
    errors = np.sqrt(0.4 / n)
    assert (np.abs(np.cumsum(values, axis=1) / n) > 1.645 * errors).any(axis=1).mean() > 0.4


def test_the_chance_to_claim_is_that_of_simulated_runs():
    rng = np.random.default_rng(3)
    draws = rng.choice([1.0, -1.0, 0.0], size=(400, 40), p=[0.35, 0.05, 0.6])
    share = np.mean([is_claimed(values, 0.005) for values in draws])
    assert chance_to_claim(0.3, 0.05, 40, 0.005) == pytest.approx(share, abs=0.08)


def test_what_could_have_been_seen_shrinks_with_more_questions():
    seen = [detectable_mean(0.05, n, 0.005) for n in (30, 60, 120)]
    assert seen == sorted(seen, reverse=True)
    assert chance_to_claim(seen[1], 0.05, 60, 0.005) == pytest.approx(0.8, abs=0.02)
    assert detectable_mean(0.05, 5, 0.005) is None


def test_as_many_values_as_are_forecast_show_the_mean_in_nine_of_ten_runs():
    n = n_to_claim(0.3, 0.05, 0.05)
    assert chance_to_claim(0.3, 0.05, n, 0.05) >= 0.9 > chance_to_claim(0.3, 0.05, n - 1, 0.05)
    draws = np.random.default_rng(5).choice([1.0, -1.0, 0.0], size=(2000, n), p=[0.35, 0.05, 0.6])
    # Of 2,000 runs, a true 90 % shows as 88 % or less twice in a thousand times.
    assert np.mean([is_claimed(values, 0.05) for values in draws]) > 0.88
    assert n_to_claim(0.01, 0.1, 0.05) is None


def test_all_losses_show_something_after_so_many_values():
    """With a mean of 1 the bettors' money is the mean of (1 + stake)^n, and 1 / (0.9 · 0.01) must be reached."""
    least = next(n for n in range(1, 40) if np.mean((1 + STAKES) ** n) >= 1 / (CLAIMING * 0.01))
    assert n_to_claim(1.0, 0.0, 0.01, power=1.0) == least


@given(VALUES)
def test_a_claim_is_an_e_value_that_is_large_enough(values):
    assert is_claimed(values, 0.2) == (e_value(values) >= e_value_needed(0.2))


def test_nothing_is_known_without_values():
    assert confidence_sequence([], 0.05) == (-1.0, 1.0)
    assert not is_claimed([], 0.05)
