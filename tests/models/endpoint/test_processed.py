"""The distribution that was sampled follows from the likeliest tokens where truncation leaves few, and is refused where
it does not."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from stand_in_endpoint import StandIn, said

from shaketable.metrics.certainty import Certainty
from shaketable.models.endpoint.processed import processed_logprobs, why_unknown
from shaketable.types import Completion, Message, Prompt, Sampling

N_LISTED, VOCABULARY = 20, 5000
Logs = NDArray[np.float64]


def sampled(raw: Logs, temperature: float, top_k: int, top_p: float, *, is_truncated_first: bool) -> Logs:
    """Of all tokens, likeliest first; minus infinity where it is cut off."""
    scale = 1.0 if is_truncated_first else temperature
    weights = np.exp(raw / scale)
    if top_k:
        weights[top_k:] = 0
    n = int(np.searchsorted(np.cumsum(weights / weights.sum()), top_p - 1e-9)) + 1 if top_p < 1 else len(raw)
    n = min(n, top_k or n)
    kept = np.full(len(raw), -np.inf)
    kept[:n] = raw[:n] / temperature
    return kept - np.log(np.exp(kept).sum())


def drawn_positions(spread: float, n: int = 40) -> Iterator[Logs]:
    rng = np.random.default_rng(7)
    for _ in range(n):
        logits = np.sort(rng.normal(0, spread, VOCABULARY))[::-1]
        yield logits - np.log(np.exp(logits).sum())


@pytest.mark.parametrize("is_truncated_first", [False, True])
@pytest.mark.parametrize("temperature", [0.3, 0.7, 1.0, 1.5])
@pytest.mark.parametrize(("top_k", "top_p"), [(20, 1.0), (20, 0.8), (5, 0.95), (0, 0.5)])
def test_truncation_within_the_list_is_exact(
    temperature: float, top_k: int, top_p: float, is_truncated_first: bool
) -> None:
    settings = {"temperature": temperature, "top_p": top_p, "top_k": top_k}
    n_given = 0
    for raw in drawn_positions(5.0):
        true = sampled(raw, temperature, top_k, top_p, is_truncated_first=is_truncated_first)
        last = int(np.isfinite(true).sum()) - 1
        given = processed_logprobs([float(raw[last])], [raw[:N_LISTED].tolist()], settings, N_LISTED)
        if given is None:
            continue
        other = sampled(raw, temperature, top_k, top_p, is_truncated_first=not is_truncated_first)
        possible = [math.exp(one[last]) for one in (true, other)]
        tolerance = 1e-9 if top_k or temperature == 1 else 0.05
        n_given += min(abs(math.exp(float(str(given[0]))) - one) for one in possible) <= tolerance
    assert n_given == 40 or (not top_k and (temperature > 1 or n_given > 10))


@pytest.mark.parametrize("temperature", [0.3, 0.7, 1.0])
def test_without_truncation_the_rest_moves_little(temperature: float) -> None:
    settings = {"temperature": temperature, "top_p": 1.0}
    for raw in drawn_positions(3.0):
        true = sampled(raw, temperature, 0, 1.0, is_truncated_first=False)
        for i in (0, 3, 500):
            given = processed_logprobs([float(raw[i])], [raw[:N_LISTED].tolist()], settings, N_LISTED)
            if given is not None:
                assert math.exp(float(str(given[0]))) == pytest.approx(math.exp(true[i]), abs=0.05)
            else:
                assert temperature < 1


def test_at_temperature_0_each_token_is_certain() -> None:
    assert processed_logprobs([-1.0, -2.0], [[-1.0], [-2.0]], {"temperature": 0.0}, 1) == [0.0, 0.0]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"temperature": 1.5, "top_p": 1.0}, "without top_k"),
        ({"temperature": 0.7, "top_p": 1.0, "top_k": 40}, "top_k is 40"),
        ({"temperature": 0.7, "top_p": 1.0, "repetition_penalty": 1.1}, "repetition penalty"),
        ({"temperature": 0.7}, "of its own"),
        ({}, "of its own"),
    ],
)
def test_what_does_not_follow_is_refused_by_name(settings: dict[str, Any], words: str) -> None:
    assert words in str(why_unknown(settings, N_LISTED))
    assert processed_logprobs([-1.0], [[-1.0] * N_LISTED], settings, N_LISTED) is None


def test_a_token_outside_of_the_truncation_is_no_guess() -> None:
    top = np.log(np.full(N_LISTED, 0.05)).tolist()
    settings = {"temperature": 1.0, "top_p": 1.0, "top_k": 5}
    assert processed_logprobs([-9.0], [top], settings, N_LISTED) is None


# --- endpoints ------------------------------------------------------------------------------------


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    for name in ("SHAKETABLE_OFFLINE", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    endpoint = StandIn()
    top = [{"token": f"t{i}", "logprob": math.log(0.5) * (i + 1)} for i in range(N_LISTED)]
    token = {"token": "Paris", "logprob": math.log(0.5), "top_logprobs": top}
    endpoint.reply = lambda body, n: said("Paris", choice={"logprobs": {"content": [token]}})
    yield endpoint
    endpoint.server.shutdown()
    endpoint.server.server_close()


def reply_of(stand_in: StandIn, wants: tuple[str, ...], **sampling: Any) -> Completion:
    settings = Sampling(**{"max_tokens": 20, **sampling})
    prompt = Prompt(messages=(Message(role="user", content="Where?"),), sampling=settings, seed=1, wants=wants)
    (reply,) = stand_in.model().generate([prompt])
    assert isinstance(reply, Completion)
    return reply


def test_an_endpoint_gives_the_sampled_distribution(stand_in: StandIn) -> None:
    reply = reply_of(stand_in, ("processed_logprobs",), temperature=1.0, top_k=2)
    assert reply.extras.keys() == {"processed_logprobs"} and reply.notes == ()
    assert math.exp(reply.extras["processed_logprobs"][0]) == pytest.approx(2 / 3)  # type: ignore[index]


def test_what_an_endpoint_cannot_give_is_noted(stand_in: StandIn) -> None:
    reply = reply_of(stand_in, ("logprobs", "processed_logprobs"), temperature=1.5)
    assert reply.extras.keys() == {"logprobs"} and reply.notes == ("processed_logprobs_missing",)


def test_certainty_of_an_endpoint_is_a_number_or_a_named_reason() -> None:
    likely, missing = completion({"processed_logprobs": [0.0, math.log(0.5)]}), completion({"logprobs": [-1.0, -2.0]})
    assert Certainty()._mean(likely, 2) == pytest.approx(0.75)
    assert "scaled=False" in str(Certainty()._mean(missing, 2))
    assert Certainty(scaled=False)._mean(missing, 2) == pytest.approx((math.exp(-1) + math.exp(-2)) / 2)


def completion(extras: Any) -> Completion:
    return Completion(
        text="Paris.",
        finish_reason="end",
        n_prompt_tokens=1,
        n_tokens=2,
        seconds=1,
        tokens=("Paris", "."),
        extras=extras,
    )
