"""The rate of calls follows what a server accepts. Time is simulated."""

from __future__ import annotations

import random

import pytest
from simulated_server import Bucket, drive_pace

from shaketable.models.endpoint.pace import Pace


def bucket(per_second: float, burst: float, refused_share: float = 0.0, seed: int = 0) -> Bucket:
    return Bucket(per_second=per_second, burst=burst, refused_share=refused_share, rng=random.Random(seed))


def test_a_server_that_refuses_nothing_is_never_held_back() -> None:
    pace = Pace()
    for n in range(1000):
        assert pace.ready_at(n / 1000) == n / 1000
        pace.sent(n / 1000)
        pace.answered(n / 1000)
    assert pace.rate is None


@pytest.mark.parametrize(("per_second", "burst"), [(50, 5), (50, 50), (2, 2), (500, 10)])
def test_a_limit_is_used_to_nine_tenths_and_hardly_overrun(per_second: float, burst: float) -> None:
    seconds = max(5000 / per_second, 60) if per_second < 500 else 60
    driven = drive_pace(bucket(per_second, burst), min(seconds, 120))
    late = [at for at in driven.accepted_at if at > 10]
    assert len(late) / (min(seconds, 120) - 10) >= 0.9 * per_second


@pytest.mark.parametrize("burst", [5, 50])
@pytest.mark.parametrize("seed", range(4))
def test_refusals_by_chance_do_not_slow_it_down(burst: float, seed: int) -> None:
    driven = drive_pace(bucket(50, burst, 1 / 3, seed), 100, n_at_once=64)
    assert len(driven.accepted_at) / 100 >= 0.9 * 50


@pytest.mark.parametrize("seed", range(4))
def test_without_a_limit_refusals_by_chance_leave_a_rate_that_grows(seed: int) -> None:
    driven = drive_pace(bucket(1e9, 1e9, 1 / 3, seed), 30, latency_seconds=0.2)
    last = [at for at in driven.accepted_at if at > 20]
    assert len(last) / 10 > 0.8 * 64 / 0.2 * 2 / 3  # Of what 64 places would send, two thirds are accepted.


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("share", [0.0, 1 / 3])
def test_a_raised_limit_is_followed_within_ten_seconds(share: float, seed: int) -> None:
    raised_at = 30 + 0.7 * seed
    driven = drive_pace(bucket(50, 10, share, seed), 60, raised_at=raised_at, raised_to=100)
    seconds = [sum(raised_at + n <= at < raised_at + n + 1 for at in driven.accepted_at) for n in range(10)]
    assert max(seconds) >= 90


def test_a_lowered_limit_is_followed() -> None:
    driven = drive_pace(bucket(100, 10), 60, raised_at=30, raised_to=20)
    assert 0.9 * 20 <= sum(at > 40 for at in driven.accepted_at) / 20 <= 21


def test_a_limit_of_a_few_calls_a_minute_is_not_stormed() -> None:
    driven = drive_pace(bucket(0.1, 1), 1200)
    assert len(driven.accepted_at) >= 0.8 * 120
    assert driven.n_sent <= 1200  # Less than one a second.


def test_a_server_that_accepts_nothing_is_asked_now_and_then_and_begins_anew_when_it_is_back() -> None:
    driven = drive_pace(bucket(1e-9, 1.0), 60)
    assert driven.n_sent < 200 and driven.rate is not None and driven.rate < 1
    back = drive_pace(bucket(1e-9, 10), 90, raised_at=60, raised_to=50)
    assert sum(at > 80 for at in back.accepted_at) / 10 >= 0.9 * 50
