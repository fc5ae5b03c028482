"""How long calls wait where a server says it with its refusals. Time is simulated."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from simulated_server import Asked, Bucket, EachSecond, drive_server

from shaketable.models.endpoint.access import Access
from shaketable.models.endpoint.failures import EndpointError
from shaketable.models.endpoint.server import Server
from shaketable.models.endpoint.window import Window

LIMIT, N_CALLS = 50.0, 5000


def bucket(refused_share: float = 0.0, seed: int = 0) -> Bucket:
    return Bucket(per_second=LIMIT, burst=10, refused_share=refused_share, rng=random.Random(seed))


def share_of_the_limit(asked: Asked) -> float:
    return asked.n_answered / asked.seconds / LIMIT


def shortest_wait(asked: Asked) -> float:
    """Seconds until a refused call was sent again."""
    return min(later - before for times in asked.sent_at for before, later in pairwise(times))


def a_server() -> Server:
    access = Access(endpoint="http://127.0.0.1/v1", key_variable="", headers={})
    return Server(None, access, Window(256, 60.0))  # type: ignore[arg-type]


def refuse(server: Server, at: float, wait_seconds: float = 5.0) -> None:
    """Send a call, which is refused at once."""
    error = EndpointError("rate_limit", "no", may_retry=True, blame="busy", wait=wait_seconds)
    server.busy(at, at, server.sent(at), error)


def answer(server: Server, at: float) -> None:
    server.answered(at, 0.0, server.sent(at))


@pytest.mark.parametrize("seed", range(4))
def test_refusals_by_chance_that_ask_for_a_pause_leave_nine_tenths_of_the_limit(seed: int) -> None:
    asked = drive_server(bucket(1 / 3, seed), N_CALLS, wait_seconds=1.0)
    assert asked.n_answered == N_CALLS and share_of_the_limit(asked) >= 0.9
    assert shortest_wait(asked) >= 1.0


@pytest.mark.parametrize("kind", [Bucket, EachSecond])
def test_a_limit_that_asks_for_pauses_is_used_to_nine_tenths_and_hardly_overrun(kind: type[Bucket]) -> None:
    burst = LIMIT if kind is EachSecond else 10.0
    asked = drive_server(kind(per_second=LIMIT, burst=burst, rng=random.Random(0)), N_CALLS, wait_seconds=1.0)
    assert share_of_the_limit(asked) >= 0.9
    assert asked.n_sent <= 1.25 * N_CALLS
    assert shortest_wait(asked) >= 1.0


@pytest.mark.parametrize(("refused_share", "most"), [(1.0, 60), (0.95, 150)])
def test_all_calls_wait_where_nearly_all_are_refused(refused_share: float, most: int) -> None:
    asked = drive_server(bucket(refused_share), N_CALLS, wait_seconds=1.0, most_seconds=30)
    assert asked.n_sent <= most


def test_the_first_refusal_holds_for_all_calls_until_a_later_one_is_answered() -> None:
    server = a_server()
    refuse(server, at=0.0)
    assert server.ready_at(1.0) == 5.0
    answer(server, at=1.0)
    assert server.ready_at(1.0) < 2.0  # A moment is the pace's.


def test_an_answer_to_an_earlier_call_ends_no_pause() -> None:
    server = a_server()
    earlier = server.sent(0.0)
    for n in range(10):
        refuse(server, at=0.1 * n)
    server.answered(1.0, 1.0, earlier)
    assert server.ready_at(1.0) == pytest.approx(0.9 + 5.0)


def test_a_pause_is_that_of_one_call_while_others_are_under_way_or_answered() -> None:
    server = a_server()
    answer(server, at=0.0)
    for n in range(1, 10):
        refuse(server, at=0.1 * n)
    assert server.ready_at(2.0) == 2.0  # Nine in a row.
    server.sent(2.0)
    for n in range(9):
        refuse(server, at=2.1 + 0.1 * n)
    assert server.ready_at(4.0) < 4.5


def test_calls_that_are_refused_in_one_moment_hold_up_no_others() -> None:
    server = a_server()
    answer(server, at=0.0)
    for n in range(12):
        refuse(server, at=0.1 + 0.001 * n)
    assert server.ready_at(1.0) == 1.0
    refuse(server, at=1.0)
    assert server.ready_at(2.0) == 6.0


def test_refusals_that_come_back_in_another_order_are_in_a_row_as_they_were_sent() -> None:
    server = a_server()
    answer(server, at=0.0)
    error = EndpointError("rate_limit", "no", may_retry=True, blame="busy", wait=5.0)
    sent = [(server.sent(0.1 * n), 0.1 * n) for n in range(1, 12)]
    random.Random(0).shuffle(sent)
    for n_before, sent_at in sent:
        server.busy(2.0, sent_at, n_before, error)
    assert server.ready_at(2.0) == 7.0
