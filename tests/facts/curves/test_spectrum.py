import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from shaketable.engine.sampling import truncate
from shaketable.facts.curves.predicate import ACCEPT, REJECT, UNDECIDED
from shaketable.facts.curves.spectrum import OPENED, Spectrum, Truncation

TEMPERATURES = np.array([0.05, 0.2, 0.5, 1.0, 1.7, 4.0])


def made(n, seed=0, spread=3.0):
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, spread, n)
    logs = (logits - np.logaddexp.reduce(logits)).astype(np.float32)
    return logs, rng.integers(0, 3, n).astype(np.int8)


def direct(logs, groups, temperature):
    """Each group's share by plain summation."""
    heights = np.exp((logs.astype(np.float64) - logs.max()) / temperature)
    return [heights[groups == group].sum() / heights.sum() for group in range(4)]


@pytest.mark.parametrize("spread", [0.0, 0.3, 3.0])
def test_bins_change_no_share_of_a_large_vocabulary(spread):
    logs, verdicts = made(20_000, spread=spread)
    spectrum = Spectrum(logs, verdicts, Truncation())
    log_totals, shares = spectrum.shares(TEMPERATURES)
    for temperature, log_total, row in zip(TEMPERATURES, log_totals, shares, strict=True):
        # The bound of the bins, (1/16t)^5 / 120, is loose below t = 0.5, where the binned tokens hold little.
        assert row == pytest.approx(direct(logs, verdicts, temperature), abs=1e-6 if temperature >= 0.2 else 1e-3)
        if temperature >= 0.5:
            scaled = logs.astype(np.float64) / temperature
            assert log_total == pytest.approx(np.logaddexp.reduce(scaled), abs=1e-6)


def test_an_opened_token_leaves_its_bin():
    logs, verdicts = made(20_000)
    spectrum = Spectrum(logs, verdicts, Truncation())
    rare = int(np.flatnonzero(verdicts == UNDECIDED)[np.argmin(logs[verdicts == UNDECIDED])])
    for token in (spectrum.likeliest(1)[0], rare):
        spectrum.open(token)
        assert spectrum.groups[token] == OPENED
    _, shares = spectrum.shares(TEMPERATURES)
    for temperature, row in zip(TEMPERATURES[2:], shares[2:], strict=True):
        assert row == pytest.approx(direct(logs, spectrum.groups, temperature), abs=1e-9)


@pytest.mark.parametrize("spread", [0.3, 3.0])
@pytest.mark.parametrize("n", [1, 5, 64, 3000])
def test_the_likeliest_tokens_are_the_first_of_a_full_sort(n, spread):
    logs, verdicts = made(20_000, spread=spread)
    spectrum = Spectrum(np.round(logs, 1), verdicts, Truncation())  # Rounded: many are equal.
    spectrum.open(int(np.argmin(np.where(verdicts == UNDECIDED, logs, 0))))
    ranked = sorted(range(len(logs)), key=lambda token: (-spectrum.log_probabilities[token], token))
    for group in (ACCEPT, REJECT, UNDECIDED):
        assert spectrum.likeliest(n, group) == [token for token in ranked if spectrum.groups[token] == group][:n]


def test_tokens_far_below_the_top_take_no_part():
    logs, verdicts = made(20_000)
    verdicts[::2] = REJECT
    expected = Spectrum(np.where(verdicts == REJECT, -np.inf, logs), verdicts, Truncation()).shares(TEMPERATURES)[1]
    # As models mask tokens that stand for nothing: the smallest number there is.
    shut_out = np.where(verdicts == REJECT, np.finfo(np.float32).min, logs)
    found = Spectrum(shut_out, verdicts, Truncation()).shares(TEMPERATURES)[1]
    assert found.tolist() == expected.tolist()
    assert set(found[:, REJECT]) == {0.0}


@given(st.integers(0, 50), st.integers(0, 8), st.floats(0.1, 1.0), st.sampled_from([0.3, 1.0, 2.5]))
def test_truncation_is_that_of_the_sampler(seed, top_k, top_p, temperature):
    logs, verdicts = made(12, seed)
    spectrum = Spectrum(logs, verdicts, Truncation(top_k=top_k, top_p=top_p))
    [truncated] = truncate(torch.tensor(logs).double()[None] / temperature, [top_k], [top_p])
    kept = torch.softmax(truncated, -1).numpy()
    log_totals, shares = spectrum.shares(np.array([temperature]))
    for group in (ACCEPT, REJECT, UNDECIDED):
        assert shares[0, group] == pytest.approx(kept[verdicts == group].sum(), abs=1e-9)
    if top_p < 1:
        found = [np.exp(spectrum.log_probability(v, np.array([temperature]), log_totals)[0]) for v in range(12)]
        assert found == pytest.approx(kept, abs=1e-6)


def test_a_model_without_finite_numbers_is_named():
    with pytest.raises(ValueError, match="The largest log-probability is nan, expected a finite number"):
        Spectrum(np.full(3, np.nan), np.zeros(3, np.int8), Truncation())


def test_truncation_outside_its_range_is_named():
    with pytest.raises(ValueError, match=r"top_k is -1 and top_p 1\.0"):
        Truncation(top_k=-1)
