"""What is promised of clusters, at a real server: most of a stated limit is used, no call is lost, a raised limit is
followed, hundreds of calls are under way where that helps."""

from __future__ import annotations

import threading
import time

import pytest
from limited_endpoint import Limited, Limits, limited

from shaketable.types import Completion, Message, Prompt, Sampling

pytestmark = pytest.mark.slow

LIMIT, LATENCY_SECONDS = 50.0, 0.02


def prompts(n: int) -> list[Prompt]:
    sampling = Sampling(temperature=0.7, max_tokens=8)
    return [Prompt(messages=(Message(role="user", content=f"q{i}"),), sampling=sampling, seed=i) for i in range(n)]


def answered_at(server: Limited, n: int) -> list[float]:
    replies = server.model().generate(prompts(n))
    assert all(isinstance(reply, Completion) for reply in replies)
    counted = server.counted()
    assert counted.n_answered == n
    return counted.answered_at


@pytest.mark.parametrize(("refused_share", "retry_after"), [(0.0, None), (1 / 3, None), (1 / 3, "1")])
def test_nine_tenths_of_a_limit_are_used_and_no_call_is_lost(refused_share: float, retry_after: str | None) -> None:
    limits = {"per_second": LIMIT, "latency_seconds": LATENCY_SECONDS, "refused_share": refused_share}
    with limited(**limits, retry_after=retry_after) as server:
        begun = time.monotonic()
        at = answered_at(server, 5000)
    assert 5000 / (at[-1] - begun) >= 0.9 * LIMIT


def test_a_raised_limit_is_followed_within_ten_seconds() -> None:
    with limited(per_second=LIMIT, latency_seconds=LATENCY_SECONDS) as server:
        raised: list[float] = []

        def lift() -> None:
            time.sleep(25)
            raised.append(server.become(Limits(per_second=2 * LIMIT, latency_seconds=LATENCY_SECONDS)))

        lifting = threading.Thread(target=lift)
        lifting.start()
        replies = server.model().generate(prompts(2600))
        lifting.join()
        assert all(isinstance(reply, Completion) for reply in replies)
        at = server.counted().answered_at
    seconds = [sum(raised[0] + n <= one < raised[0] + n + 1 for one in at) for n in range(10)]
    assert max(seconds) >= 0.9 * 2 * LIMIT


def test_hundreds_of_calls_are_under_way_where_replies_take_long() -> None:
    with limited(latency_seconds=1.0) as server:
        answered_at(server, 2500)
        assert server.counted().most_at_once >= 200
