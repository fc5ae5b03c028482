import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper
from transformers.generation.logits_process import RepetitionPenaltyLogitsProcessor

from shaketable.engine.sampling import draw, entropies, penalize, sampled_logprobs, truncate, uniforms
from shaketable.types import Sampling


def sampling(temperature, **more):
    return Sampling(temperature=temperature, max_tokens=1, **more)


def frequencies(probabilities, temperature, n=20_000, **more):
    """How often each token is drawn when the uniform numbers lie evenly in [0, 1)."""
    logits = torch.tensor(probabilities).log().expand(n, -1)
    numbers = (np.arange(n) + 0.5) / n
    tokens = draw(logits, [sampling(temperature, **more)] * n, list(numbers), [()] * n)
    return np.bincount(tokens.numpy(), minlength=len(probabilities)) / n


# Worked numbers of the factual-robustness study, its equation 2: p_t(v) proportional to p(v)^(1/t).
@pytest.mark.parametrize(
    ("temperature", "expected"),
    [(0.5, (0.782609, 0.195652, 0.021739)), (1.0, (0.6, 0.3, 0.1)), (2.0, (0.472734, 0.334273, 0.192993))],
)
def test_tokens_are_drawn_with_the_probabilities_of_the_temperature(temperature, expected):
    assert frequencies((0.6, 0.3, 0.1), temperature) == pytest.approx(expected, abs=1e-4)


def test_random_numbers_give_the_same_distribution():
    n = 5_000
    numbers = [uniforms(seed, 1)[0] for seed in range(n)]
    tokens = draw(torch.tensor([0.6, 0.3, 0.1]).log().expand(n, -1), [sampling(1.0)] * n, numbers, [()] * n)
    observed = np.bincount(tokens.numpy(), minlength=3)
    assert stats.chisquare(observed, np.array([0.6, 0.3, 0.1]) * n).pvalue > 0.001


def test_temperature_zero_takes_the_most_likely_token_and_the_lowest_id_among_equals():
    logits = torch.tensor([[0.0, 3.0, 3.0], [5.0, 1.0, 2.0]])
    assert draw(logits, [sampling(0.0)] * 2, [0.99, 0.99], [(), ()]).tolist() == [1, 0]


def test_each_row_has_its_own_temperature():
    logits = torch.tensor([0.6, 0.3, 0.1]).log().expand(3, -1)
    assert draw(logits, [sampling(0.0), sampling(1.0), sampling(2.0)], [0.7, 0.7, 0.85], [()] * 3).tolist() == [0, 1, 2]


@given(
    st.lists(st.floats(-8, 8), min_size=4, max_size=12),
    st.floats(0.1, 3.0),
    st.integers(0, 6),
    st.floats(0.05, 1.0),
)
def test_truncation_keeps_what_the_common_library_keeps(values, temperature, top_k, top_p):
    logits = torch.tensor([values])
    expected = TemperatureLogitsWarper(temperature)(None, logits)
    if top_k:
        expected = TopKLogitsWarper(top_k)(None, expected)
    if top_p < 1.0:
        # The library cuts tokens whose cumulative mass from below is at most 1 - p; equal logits may differ in order.
        expected = TopPLogitsWarper(top_p)(None, expected)
    [ours, _] = truncate(torch.tensor([values, values[::-1]]) / temperature, [top_k, 1], [top_p, 0.5])
    kept, theirs = ours.isfinite().sum().item(), expected[0].isfinite().sum().item()
    if len(set(values)) == len(values) and _clear_of_rounding(logits[0] / temperature, top_k, top_p):
        assert kept == theirs
    assert 1 <= kept <= len(values)


def _clear_of_rounding(scaled, top_k, top_p):
    """Whether no partial sum of probabilities lies on the border itself."""
    [kept] = truncate(scaled[None], [top_k], [1.0])
    mass = torch.softmax(kept.sort(descending=True).values.double(), -1).cumsum(-1)
    return bool(((mass - top_p).abs() > 1e-4).all())


def test_a_token_without_mass_is_never_drawn():
    for number in itertools.chain(np.linspace(0, 1, 41, endpoint=False), [np.nextafter(1.0, 0.0)]):
        [token] = draw(torch.tensor([[1.0, 2.0, 0.5, 1.5]]), [sampling(1.0, top_k=2)], [number], [()]).tolist()
        assert token in (1, 3)


def test_the_repetition_penalty_is_that_of_the_common_library():
    logits = torch.tensor([2.0, -1.0, 0.5, 3.0])
    expected = RepetitionPenaltyLogitsProcessor(1.3)(torch.tensor([[0, 1, 1]]), logits[None].clone())[0]
    assert torch.equal(penalize(logits.clone(), [0, 1, 1], 1.3), expected)


def test_a_seed_always_gives_the_same_numbers_and_another_seed_others():
    assert np.array_equal(uniforms(5, 4), uniforms(5, 8)[:4])
    assert not np.array_equal(uniforms(5, 4), uniforms(6, 4))


def test_the_probabilities_really_sampled_are_those_after_penalty_heat_and_truncation():
    """Row 0: 2/.5 and 1/.5 remain of three: softmax(4, 2) = .880797, .119203. Row 1: 2 is halved by the penalty
    before the heat: softmax(1, 1, 0)."""
    logits = torch.tensor([[2.0, 1.0, 0.0], [2.0, 1.0, 0.0], [2.0, 1.0, 0.0]])
    samplings = [
        Sampling(temperature=0.5, max_tokens=1, top_k=2),
        Sampling(temperature=1.0, max_tokens=1, repetition_penalty=2.0),
        Sampling(temperature=0.0, max_tokens=1),
    ]
    probabilities = sampled_logprobs(logits, samplings, [(), (0,), ()]).exp()
    assert probabilities[0].tolist() == pytest.approx([0.880797, 0.119203, 0.0], abs=1e-6)
    assert probabilities[1].tolist() == pytest.approx([0.422319, 0.422319, 0.155362], abs=1e-6)
    assert probabilities[2].tolist() == [1.0, 0.0, 0.0], "the greedy limit"
    # -.880797 ln .880797 - .119203 ln .119203
    assert entropies(probabilities.log()[[0, 2]]) == [pytest.approx(0.365334, abs=1e-5), 0.0]
