import dataclasses

import numpy as np
import pytest
import torch
from toys import BY_HAND, TOY, by_hand, drive, toy

from shaketable.facts.curves.curve import CurveSettings, curve
from shaketable.facts.curves.predicate import Predicate
from shaketable.facts.curves.vocabulary import Vocabulary

GRID = tuple(round(0.2 * i, 1) for i in range(1, 11))
BOUNDS_ALONE = CurveSettings(max_tokens=4, n_samples=0, n_at_once=1, eps=0, eps_temperature=0, grid=GRID)


def made(settings=BOUNDS_ALONE, golds=("alfabeta",), seed=0, **changes):
    return drive(curve("key", Predicate(golds, TOY), dataclasses.replace(settings, **changes), seed), toy)


def test_the_breaking_temperature_of_the_example_by_hand():
    predicate = Predicate(["Paris"], BY_HAND)
    settings = dataclasses.replace(BOUNDS_ALONE, max_tokens=2, scan_to=6.0)
    root = drive(curve("key", predicate, dataclasses.replace(settings, budget=1)), by_hand)
    assert root.breaking_low == pytest.approx(1.663985, abs=1e-6)
    assert root.breaking_high is None
    both = drive(curve("key", predicate, settings), by_hand)
    assert [both.breaking_low, both.breaking, both.breaking_high] == pytest.approx([4.297760] * 3, abs=1e-6)


@pytest.mark.parametrize(("threshold", "breaking"), [(0.5, 3.389716), (0.7, 1.683450)])
def test_the_breaking_temperature_of_the_toy(threshold, breaking):
    found = made(threshold=threshold, budget=100)
    assert [found.breaking_low, found.breaking, found.breaking_high] == pytest.approx([breaking] * 3, abs=1e-6)
    assert found.n_expanded == found.n_positions == 76
    assert found.n_samples == 0


def test_two_passes_certify_the_toy_unbroken_up_to_two():
    found = made(budget=2)
    assert found.n_positions == 2
    assert min(found.low) >= 0.5
    assert found.breaking_low > 2 and found.breaking_high is None


@pytest.mark.parametrize(
    ("budget", "low", "high"),
    [
        (2, 1.522195, None),
        (8, 1.597461, 2.594790),
        (20, 1.664984, 1.847712),
        (40, 1.680214, 1.694453),
        pytest.param(62, 1.683295, 1.684194, marks=pytest.mark.slow),
    ],
)
def test_the_bracket_narrows_with_every_pass(budget, low, high):
    found = made(goal="breaking", threshold=0.7, budget=budget)
    assert found.breaking_low == pytest.approx(low, abs=1e-6)
    assert found.breaking_high == (high and pytest.approx(high, abs=1e-6))


# A vocabulary of 50,000, a two-token answer with p = .90 and .95, other mass Zipf 1.1; after any other
# token the answer starts with p = .01.
N = 50_000
ZIPF = np.arange(1, N) ** -1.1
LARGE = Vocabulary(["Mount", " Fuji", "", *(f" x{i}" for i in range(N - 1))], {2})


def zipf(token, probability):
    """One token's probability, the rest in Zipf's proportions over tokens that are no part of the answer."""
    logs = np.full(LARGE.n, -np.inf, dtype=np.float32)
    logs[3:] = np.log((1 - probability) * ZIPF / ZIPF.sum())
    logs[token] = np.log(probability)
    return logs


FIRST, SECOND, ELSEWHERE = zipf(0, 0.90), zipf(1, 0.95), zipf(0, 0.01)


def large(suffix):
    return FIRST if not suffix else SECOND if suffix[-1] == 0 else ELSEWHERE


SHAPE = {0.8: (0.976760, 0.976018), 1.0: (0.858673, 0.855), 1.2: (0.498791, 0.492309), 1.4: (0.140016, 0.136298),
         2.0: (0.001172, 0.001063)}  # fmt: skip


def test_a_realistic_shape_from_two_passes():
    settings = CurveSettings(budget=2, n_samples=0, grid=tuple(SHAPE))
    found = drive(curve("key", Predicate(["Mount Fuji"], LARGE), settings), large)
    assert found.n_positions == 2
    assert found.low == pytest.approx([low for _, low in SHAPE.values()], abs=1e-6)
    # Where the mass goes at the first and at the second token of the answer, at the temperature it breaks.
    assert found.position_losses[0] > found.position_losses[1] > 0


def test_a_realistic_shape_within_its_budget():
    settings = CurveSettings(grid=tuple(SHAPE))
    found = drive(curve("key", Predicate(["Mount Fuji"], LARGE), settings, seed=4), large)
    truth = [exact for exact, _ in SHAPE.values()]
    assert found.n_positions <= settings.budget
    assert found.n_samples > 0
    assert found.value == pytest.approx(truth, abs=0.01)
    for low, exact, high in zip(found.value_low, truth, found.value_high, strict=True):
        assert low - 1e-6 <= exact <= high + 1e-6


def test_same_seed_same_curve_and_tensors_do_too():
    settings = CurveSettings(max_tokens=4, budget=20, n_samples=4, grid=GRID)
    first = made(settings, seed=11)
    predicate = Predicate(["alfabeta"], TOY)
    again = drive(curve("key", predicate, settings, 11), lambda suffix: torch.tensor(toy(suffix)))
    assert first == again
    assert first != made(settings, seed=12)


def test_samples_never_pass_the_budget():
    for budget in (1, 2, 5, 9, 30):
        found = made(CurveSettings(max_tokens=4, budget=budget, n_samples=8, grid=GRID))
        assert found.n_positions <= budget


def test_an_estimate_lies_between_the_bounds():
    found = made(CurveSettings(max_tokens=4, budget=20, n_samples=4, least_effective=1))
    assert found.n_samples > 0
    for low, value_low, value, value_high, high in zip(
        found.low, found.value_low, found.value, found.value_high, found.high, strict=True
    ):
        if value is not None:
            assert low <= value_low <= value <= value_high <= high


def test_where_samples_amount_to_fewer_than_twenty_there_is_no_estimate_but_a_reason():
    found = made(CurveSettings(max_tokens=4, budget=20, n_samples=4, grid=GRID))
    assert found.n_samples > 0
    assert found.value[-1] is None and found.value_low[-1] is None
    assert "fewer than 20 equally weighted ones" in found.value_reason
    assert found.high[-1] - found.low[-1] > 0.1
    assert found.value[0] is not None  # The bounds alone are narrow there.


def test_a_greedy_wrong_answer_is_broken_from_the_start():
    found = made(golds=("cetaceta",), budget=100)
    assert found.breaking == found.breaking_low == 0.0
    assert found.breaking_high == pytest.approx(0.01)
    assert found.value[-1] > found.value[0]  # A latent fact: heat brings the answer.


def test_an_answer_out_of_reach_costs_nothing():
    found = made(golds=("alfabetaceta" * 3,))
    assert found.n_positions == 0
    assert set(found.low) == set(found.high) == set(found.value) == {0.0}


def test_without_accepted_answers_there_is_a_reason():
    assert made(golds=()).reason == "no accepted answers"


def test_the_likeliest_wrong_answers_are_named():
    found = made(budget=100)
    texts = [wrong["text"] for wrong in found.wrong]
    assert texts[0] == ""  # The end mark at once.
    probabilities = [wrong["probability"] for wrong in found.wrong]
    assert probabilities == sorted(probabilities, reverse=True)
    heights = np.exp(toy(()) / found.breaking)
    assert probabilities[0] == pytest.approx(heights[0] / heights.sum())


def test_settings_outside_their_range_are_named():
    with pytest.raises(ValueError, match="expected temperatures above 0"):
        CurveSettings(temperatures=(0.0, 1.0))
    with pytest.raises(ValueError, match="max_tokens"):
        CurveSettings(max_tokens=0)
