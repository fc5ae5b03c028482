"""Stated limits hold in any minute. Time is simulated."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shaketable.models.endpoint.choice import estimate_tokens
from shaketable.models.endpoint.quota import Quotas


def send(quotas: Quotas, n: int, takes: float, used: float, pause: float = 0.0) -> list[tuple[float, float]]:
    """When calls are sent, one after another, and the tokens each of them took in the end."""
    now, sent = 0.0, []
    for _ in range(n):
        now = max(now + pause, quotas.ready_at(now + pause, takes))
        tokens = quotas.take(now, takes)
        quotas.count(tokens, used)
        sent.append((now, used))
    return sent


def most_in_a_minute(sent: list[tuple[float, float]]) -> float:
    return max(sum(amount for at, amount in sent if begin <= at < begin + 60) for begin, _ in sent)


@given(st.integers(1, 200), st.floats(0.0, 0.5))
def test_requests_stay_within_their_limit_in_any_minute(limit: int, pause: float) -> None:
    sent = send(Quotas(limit, None), min(3 * limit, 300), 0.0, 0.0, pause)
    assert most_in_a_minute([(at, 1.0) for at, _ in sent]) <= limit


@given(st.integers(1_000, 100_000), st.floats(1.0, 900.0), st.floats(0.2, 1.0))
def test_tokens_stay_within_their_limit_in_any_minute(limit: int, takes: float, share: float) -> None:
    assert most_in_a_minute(send(Quotas(None, limit), 200, takes, share * takes)) <= limit * (1 + 1e-9)


def test_the_limit_is_used() -> None:
    sent = send(Quotas(600, None), 3000, 0.0, 0.0)
    assert sent[-1][0] <= 3000 / 10 + 10
    assert sum(at < 10 for at, _ in sent) == 100  # Not the whole minute's in its first seconds,
    assert sum(at < 1 for at, _ in sent) == 10  # nor in its first one.


def test_what_a_reply_did_not_take_is_given_to_others() -> None:
    assert send(Quotas(None, 6000), 600, takes=500, used=10)[-1][0] <= 60


def test_what_a_server_counts_is_learnt() -> None:
    sent = send(Quotas(None, 20_000), 200, takes=41, used=1000)
    assert most_in_a_minute(sent) <= 20_000
    assert sum(at == 0 for at, _ in sent) == 20  # The limit is used.


@pytest.mark.parametrize(("text", "n"), [("", 0), ("abcde", 2), ("東京は首都", 5), ("Zürich", 3), ("\ud800", 1)])
def test_other_letters_than_those_of_ascii_are_a_token_each(text: str, n: int) -> None:
    assert estimate_tokens(text) == n


def test_few_calls_go_as_long_as_none_was_counted() -> None:
    quotas = Quotas(None, 20_000)
    taken = [quotas.take(0.0, 41) for _ in range(4)]
    assert quotas.ready_at(0.0, 41) == 60.0
    quotas.count(taken[0], 1000)
    assert quotas.ready_at(0.0, 41) == 0.0


def test_a_count_that_cannot_be_is_forgotten() -> None:
    quotas = Quotas(None, 20_000)
    quotas.count(quotas.take(0.0, 41), 1e8)
    for i in range(1, 21):
        quotas.count(quotas.take(60.0 * i, 41), 41)
    assert sum(at < 3 for at, _ in _go_on(quotas, 1300.0)) > 400


def _go_on(quotas: Quotas, begin: float) -> list[tuple[float, float]]:
    return [(quotas.take(max(begin, quotas.ready_at(begin, 41)), 41).at - begin, 41.0) for _ in range(480)]


def test_a_call_that_is_larger_than_the_limit_goes_alone() -> None:
    assert [at for at, _ in send(Quotas(None, 100), 3, takes=500, used=500)] == [0.0, 60.0, 120.0]


def test_without_limits_nothing_waits() -> None:
    quotas = Quotas(None, None)
    assert not quotas.counts_tokens
    now = random.Random(0).random()
    assert quotas.ready_at(now, 1e9) == now
