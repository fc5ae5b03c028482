"""Every number here is worked in the specification of the Factual Robustness Score, or by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaketable.facts.score import (
    D,
    breaking_temperature,
    chance_broken,
    chances_of_breaking,
    entropy_of_top,
    f,
    frs,
    is_broken,
)

GRID = tuple(round(0.2 * step, 1) for step in range(1, 11))
SCAN = dict(zip(GRID, (1, 1, 0.9, 0.7, 0.6, 0.5, 0.4, 0.5, 0.3, 0.2), strict=True))

# --- entropy (section 4) ------------------------------------------------------------------------------

TOPS = (
    ((0.90, 0.05, 0.02, 0.01, 0.005, 0.004, 0.003, 0.002, 0.001, 0.001), 0.200276, 0.199340),
    ((0.5, 0.3, 0.1, 0.04, 0.02, 0.01, 0.01, 0.005, 0.005, 0), 0.560286, 0.561581),
    ((0.05,) * 10, 0.650515, 1),
    ((0.1,) * 10, 1, 1),
    ((1, *[0] * 9), 0, 0),
)


@pytest.mark.parametrize(("top", "raw", "renormalized"), TOPS)
def test_the_entropy_of_the_top_tokens(top, raw, renormalized):
    assert entropy_of_top(top) == pytest.approx(raw, abs=5e-7)
    assert entropy_of_top(top, renormalize=True) == pytest.approx(renormalized, abs=5e-7)


def test_entropy_in_other_bases():
    assert entropy_of_top(TOPS[0][0], base=math.e) == pytest.approx(0.461153, abs=5e-7)
    assert entropy_of_top(TOPS[0][0], base=2) == pytest.approx(0.665303, abs=5e-7)


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=10), st.floats(0.01, 1))
def test_entropy_lies_between_0_and_1_and_both_forms_are_tied(weights, mass):
    top = [mass * weight / sum(weights) for weight in weights]
    raw, renormalized = entropy_of_top(top), entropy_of_top(top, renormalize=True)
    assert 0 <= raw <= 1 + 1e-12
    assert 0 <= renormalized <= 1 + 1e-12
    assert raw == pytest.approx(mass * (renormalized - math.log10(mass)), abs=1e-9)


# --- breaking temperature (section 5) -----------------------------------------------------------------


def test_each_rule_finds_its_temperature():
    assert breaking_temperature(SCAN) == 1.4
    assert breaking_temperature(SCAN, rule="last") == 1.8
    assert breaking_temperature(SCAN, rule="bisect") == 1.8
    assert breaking_temperature(SCAN, inclusive=True) == 1.2


def test_bisection_needs_only_the_temperatures_it_visits():
    assert breaking_temperature({t: SCAN[t] for t in (1.0, 1.6, 1.8)}, rule="bisect") == 1.8
    # A scan that bisected leaves these; its coolest broken one is where it ended.
    assert breaking_temperature({1.0: 0.2, 0.4: 0.9, 0.6: 0.7, 0.8: 0.4}) == 0.8


@pytest.mark.parametrize("rule", ["first", "last", "bisect"])
def test_a_fact_that_always_holds_is_unbroken_and_one_that_never_does_breaks_at_once(rule):
    assert breaking_temperature(dict.fromkeys(GRID, 0.5), rule=rule) is None
    assert breaking_temperature(dict.fromkeys(GRID, 0.4), rule=rule) == 0.2
    assert breaking_temperature({}, rule=rule) is None


def test_a_break_that_heals_is_none_for_the_last_run():
    assert breaking_temperature({0.2: 1, 0.4: 0.1, 0.6: 0.8}, rule="last") is None
    assert breaking_temperature({0.2: 1, 0.4: 0.1, 0.6: 0.8}) == 0.4


def test_an_unknown_rule_is_named():
    with pytest.raises(ValueError, match="rule is 'middle', expected one of first, last, bisect"):
        breaking_temperature(SCAN, rule="middle")  # type: ignore[arg-type]


@given(st.lists(st.booleans(), min_size=10, max_size=10))
def test_a_temperature_left_early_gets_the_verdict_of_all_ten_answers(outcomes):
    n_seen = next(n for n in range(1, 11) if sum(outcomes[:n]) == 5 or n - sum(outcomes[:n]) == 6 or n == 10)
    seen = outcomes[:n_seen]
    assert is_broken(sum(seen) / n_seen) == is_broken(sum(outcomes) / 10)


@given(st.lists(st.floats(0, 1), min_size=10, max_size=10))
def test_all_rules_agree_where_accuracy_only_falls(accuracies):
    scan = dict(zip(GRID, sorted(accuracies, reverse=True), strict=True))
    assert len({breaking_temperature(scan, rule=rule) for rule in ("first", "last", "bisect")}) == 1


@pytest.mark.parametrize(
    ("accuracy", "one", "any_of_ten"),
    [
        (0.95, 0.000003, 0.000028),
        (0.90, 0.000147, 0.001468),
        (0.80, 0.006369, 0.061899),
        (0.70, 0.047349, 0.384344),
        (0.60, 0.166239, 0.837663),
        (0.55, 0.261563, 0.951790),
        (0.50, 0.376953, 0.991185),
        (0.45, 0.504405, 0.999106),
    ],
)
def test_the_noise_of_a_scan_is_binomial(accuracy, one, any_of_ten):
    assert chance_broken(accuracy) == pytest.approx(one, abs=5e-7)
    assert 1 - chances_of_breaking([accuracy] * 10)[-1] == pytest.approx(any_of_ten, abs=5e-7)


def test_a_scan_often_declares_a_break_too_early():
    curve = (1, 0.99, 0.97, 0.92, 0.84, 0.74, 0.64, 0.54, 0.45, 0.37)
    chances = chances_of_breaking(curve)
    expected = (0.0020, 0.0239, 0.1045, 0.2463, 0.3144, 0.2181, 0.0908)
    assert chances[4:] == pytest.approx(expected, abs=5e-5)
    assert sum(chances[:8]) == pytest.approx(0.3766, abs=1e-4)  # the true curve breaks at 1.8
    assert sum(chances) == pytest.approx(1)


# --- the score (section 6) ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entropy", "d", "breaking", "raw", "score"),
    [
        (0.00, 1, 0.2, 1.200000, 0.687500),
        (0.00, 1, 2.0, 3.000000, 0.800000),
        (0.10, 1, 0.2, 0.996667, 0.666296),
        (0.10, 1, 1.0, 1.750000, 0.733333),
        (0.10, 5, 1.0, 1.130980, 0.680611),
        (0.10, 50, 1.0, -0.039692, 0.489876),
        (0.25, 1, 0.6, 1.043750, 0.671458),
        (0.25, 2, 0.6, 0.743750, 0.635535),
        (0.25, 10, 0.6, -0.066148, 0.482897),
        (0.50, 1, 1.4, 0.991667, 0.665738),
        (0.50, 2, 2.0, 0.583333, 0.612903),
        (0.90, 1, 0.4, -0.502857, 0.332061),
        (1.00, 1, 0.2, -0.833333, 0.142857),
        (1.00, 50, 2.0, -0.333333, 0.400000),
        (0.02, 50, 1.8, 1.012532, 0.668053),
    ],
)
def test_the_score_of_the_worked_examples(entropy, d, breaking, raw, score):
    assert f(entropy, breaking, d) == pytest.approx(raw, abs=5e-7)
    assert frs(entropy, breaking, d) == pytest.approx(score, abs=5e-7)


entropies, breakings, exponents = st.floats(0, 1), st.floats(0, 2), st.sampled_from(D)


@given(entropies, entropies, breakings, exponents)
def test_more_entropy_scores_less(one, other, breaking, d):
    low, high = sorted((one, other))
    assert f(low, breaking, d) >= f(high, breaking, d)
    if high - low > 1e-6:
        assert f(low, breaking, d) > f(high, breaking, d)


@given(entropies, breakings, breakings, exponents)
def test_breaking_later_scores_more(entropy, one, other, d):
    early, late = sorted((one, other))
    assert f(entropy, late, d) >= f(entropy, early, d) - 1e-12
    assert frs(entropy, late, d) >= frs(entropy, early, d) - 1e-12


@given(entropies, breakings)
def test_a_larger_d_never_scores_more_and_means_nothing_without_entropy(entropy, breaking):
    scores = [f(entropy, breaking, d) for d in D]
    assert scores == sorted(scores, reverse=True)
    assert len({f(0, breaking, d) for d in D}) == 1


@given(entropies, breakings, exponents)
def test_f_is_at_least_minus_one_and_a_broken_fact_never_reaches_one(entropy, breaking, d):
    assert f(entropy, breaking, d) >= -1
    assert frs(entropy, breaking, d) < 1 == frs(entropy, None, d)


@given(entropies, st.sampled_from(GRID), exponents)
def test_on_the_grid_a_broken_fact_scores_between_one_seventh_and_four_fifths(entropy, breaking, d):
    assert 1 / 7 - 1e-12 <= frs(entropy, breaking, d) <= 0.8 + 1e-12


@given(entropies)
def test_at_temperature_0_with_d_1_f_is_one_minus_twice_the_entropy(entropy):
    assert f(entropy, 0) == pytest.approx(1 - 2 * entropy)


@given(st.floats(0.01, 1), breakings)
def test_a_huge_d_leaves_at_most_one_half(entropy, breaking):
    assert frs(entropy, breaking, d=1e6) <= 0.5
