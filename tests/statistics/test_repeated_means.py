"""The interval over repeats: against an integral and a slow table, and by simulation at every repeat."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from known_truth.repeated_systems import SHAPES, walk
from scipy import integrate, stats

from shaketable.statistics.repeated_means import PULL, TUNING, RepeatedMean, furthest, least_repeats, log_mixture

VALUES = st.sampled_from([0.0, 0.0, 1.0, 1.0, 0.5])


def integral(excess, off):
    """By the definition: exp(λ s − (−log(1−λ) − λ) v), averaged over λ between 0 and 1 by a gamma density of 1 − λ."""

    def density(rest):
        return rest ** (TUNING - 1) * math.exp(-TUNING * rest)

    def inside(rest):
        bet = 1 - rest
        return math.exp(bet * excess - (-math.log(rest) - bet) * off) * density(rest) if rest else 0.0

    return integrate.quad(inside, 0, 1, limit=200)[0] / integrate.quad(density, 0, 1)[0]


@pytest.mark.parametrize(("excess", "off"), [(0.0, 0.0), (5.0, 0.0), (2.0, 0.7), (9.0, 4.0), (20.0, 30.0), (60.0, 300)])
def test_the_mixture_is_the_integral_of_its_definition(excess, off):
    assert log_mixture(excess, off) == pytest.approx(math.log(integral(excess, off)), rel=1e-6)


@pytest.mark.parametrize("off", [0.0, 1.0, 25.0, 400.0])
def test_the_furthest_sum_is_where_the_integral_reaches_one_over_the_error(off):
    assert integral(furthest(off, 0.025), off) == pytest.approx(40, rel=1e-5)


def test_numbers_of_the_bound_by_hand():
    """Without any surprise and a gamma density of shape 2, the integral over u = 1 − λ of 4 u exp(s − (s + 2) u) / (1 −
    3 / e²) is 4 (e^s − e⁻² (s + 3)) / ((s + 2)² (1 − 3 / e²)). At s = 5.9248 it is 4 · (374.20 − 1.21) / (62.80 · .594)
    = 40: one over 2.5 %."""
    assert furthest(0.0, 0.025) == pytest.approx(5.9248, abs=2e-4)


def test_the_first_look_is_where_the_interval_can_be_narrow_at_all():
    """5.92 / (0.06 · 24) = 4.1, so five repeats beside the first; of 1,000 questions one is enough."""
    assert least_repeats(24, 0.03, 0.95) == 6
    assert least_repeats(1000, 0.03, 0.95) == 2
    for n_repeats, is_narrow in ((5, False), (6, True)):
        mean = RepeatedMean([1.0] * 24)
        mean.off, mean.weight, mean.total, mean.n_repeats = 0.0, 24 * (n_repeats - 1), 24 * (n_repeats - 1), n_repeats
        low, high = mean.interval(0.95)
        assert (high - low <= 0.06) == is_narrow


def slow(rows, weights):
    """Answer for answer, in exact fractions."""
    own = [[] for _ in weights]
    total = weight = off = Fraction(0)
    for n, row in enumerate(rows):
        known = [value for answers in own for value in answers]
        of_all = (sum(known, Fraction(0)) + Fraction(1, 2)) / (len(known) + 1)
        for i, value in enumerate(row):
            if value is not None and n:
                guess = (sum(own[i], Fraction(0)) + Fraction(PULL) * of_all) / (len(own[i]) + Fraction(PULL))
                off += (weights[i] * (Fraction(value) - guess)) ** 2
                total += weights[i] * Fraction(value)
                weight += weights[i]
        for i, value in enumerate(row):
            own[i] += [] if value is None else [Fraction(value)]
    return total, weight, off


@given(
    st.lists(st.lists(st.one_of(st.none(), VALUES), min_size=3, max_size=3), min_size=1, max_size=6),
    st.permutations(range(3)),
)
def test_each_answer_is_held_against_the_guess_from_the_repeats_before_it(rows, order):
    weights = [Fraction(1), Fraction(1, 2), Fraction(1, 2)]
    mean = RepeatedMean([float(weights[i]) for i in order])
    for row in rows:
        mean.add([math.nan if row[i] is None else row[i] for i in order])
    total, weight, off = slow(rows, weights)
    assert (mean.total, mean.weight, mean.off) == pytest.approx((float(total), float(weight), float(off)))


def test_one_repeat_tells_nothing_and_a_value_beyond_the_scale_is_refused():
    mean = RepeatedMean([1.0] * 4)
    assert mean.interval(0.95) == (0.0, 1.0)
    mean.add([1.0] * 4)
    assert mean.interval(0.95) == (0.0, 1.0)
    with pytest.raises(ValueError, match="less than 0 or more than 1"):
        mean.add([1.5, 0, 0, 0])


def walks(shape, n_questions, n_systems, **more):
    draws = [np.random.default_rng([11, n_questions, seed]) for seed in range(n_systems)]
    return [walk(SHAPES[shape](rng, n_questions), 0.1, rng, 20, **more) for rng in draws]


def assert_held(own):
    """At most 1 in 20 misses; more than this come by chance once in ten thousand times."""
    most = stats.binom.ppf(1 - 1e-4, len(own), 0.05)
    assert sum(not one.holds_always for one in own) <= most
    assert sum(not one.holds_at_stop for one in own) <= most


@pytest.mark.parametrize("shape", ["mixed: beta(.3, .2)", "all at 0.9", "rarely right: all at 0.02"])
def test_the_interval_holds_the_truth_at_all_repeats_at_once(shape):
    assert_held(walks(shape, 12, 40))


def test_answers_that_fail_are_left_out_and_the_interval_holds_still():
    assert_held(walks("mixed: beta(.3, .2)", 12, 40, missing=0.3))


def test_questions_that_never_change_stop_at_the_first_looks_and_noisy_ones_later():
    [fixed] = walks("60 % right, never changing", 24, 1)
    [noisy] = walks("all at 0.5", 24, 1)
    assert fixed.n_repeats <= 6 < noisy.n_repeats
    assert fixed.is_narrow


@pytest.mark.slow
@pytest.mark.parametrize("n_questions", [8, 50, 200])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_interval_holds_the_truth_whatever_the_questions_are(shape, n_questions):
    assert_held(walks(shape, n_questions, 300))
