"""Several servers, servers that refuse for now, and endpoints that cannot be used: no call is lost, and one message
ends a run that has no sense."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest
from limited_endpoint import closed_port, limited
from stand_in_endpoint import Reply, StandIn, said

from shaketable import catalog
from shaketable.errors import ModelError, PartError
from shaketable.models.endpoint import failures
from shaketable.models.endpoint.access import Access
from shaketable.models.endpoint.pool import Call, Pool
from shaketable.models.endpoint.quota import Quotas
from shaketable.models.endpoint.server import Server
from shaketable.models.endpoint.window import Window
from shaketable.models.openai import Openai
from shaketable.types import Completion, Failure, Message, Prompt, Sampling

SECRET = "sk-a-secret-that-must-stay-one"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "FIRST_WAIT_SECONDS", 0.01)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    for name in ("SHAKETABLE_OFFLINE", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def servers() -> Iterator[tuple[StandIn, StandIn]]:
    both = StandIn(), StandIn()
    yield both
    for server in both:
        server.server.shutdown()
        server.server.server_close()


def prompts(n: int, layout: Any = "chat") -> list[Prompt]:
    sampling = Sampling(temperature=0.7, max_tokens=20)
    return [
        Prompt(messages=(Message(role="user", content=f"q{i}"),), sampling=sampling, seed=i, layout=layout)
        for i in range(n)
    ]


def refused(status: int, message: str = "no", headers: dict[str, str] | None = None, **more: Any) -> Reply:
    return status, headers or {}, {"error": {"message": message, **more}}


def slowly(body: dict[str, Any], n: int) -> Reply:
    time.sleep(0.02)
    return said(body["messages"][0]["content"])


def texts(model: Openai, n: int) -> list[str]:
    replies = model.generate(prompts(n))
    assert all(isinstance(reply, Completion) for reply in replies), replies
    return [reply.text for reply in replies if isinstance(reply, Completion)]


# --- several servers ------------------------------------------------------------------------------


def test_several_servers_share_the_calls_and_are_told_by_who_answered(servers: tuple[StandIn, StandIn]) -> None:
    for server in servers:
        server.reply = slowly
    model = servers[0].model(base_url=(servers[0].url, servers[1].url))
    assert texts(model, 80) == [f"q{i}" for i in range(80)]
    assert min(len(server.requests) for server in servers) >= 16
    hosts = [server.url.removeprefix("http://").removesuffix("/v1") for server in servers]
    environment = model.environment()
    assert environment["endpoint"] == ", ".join(hosts)
    told = {"reported_model": "stand-in-2", "reported_fingerprint": "fp"}
    assert environment["answered"] == dict.fromkeys(hosts, told)


def test_calls_go_to_the_server_that_answers_sooner(servers: tuple[StandIn, StandIn]) -> None:
    def lazily(body: dict[str, Any], n: int) -> Reply:
        time.sleep(1.5)  # Many times as long as the other takes on a busy machine.
        return said("late")

    servers[0].reply, servers[1].reply = lazily, slowly
    servers[0].model(base_url=(servers[0].url, servers[1].url)).generate(prompts(150))
    assert len(servers[1].requests) > 2 * len(servers[0].requests)


def test_a_server_that_is_not_there_is_left_out(servers: tuple[StandIn, StandIn]) -> None:
    servers[0].reply = slowly
    model = servers[0].model(base_url=(f"http://127.0.0.1:{closed_port()}/v1", servers[0].url))
    assert texts(model, 60) == [f"q{i}" for i in range(60)]
    assert list(model.environment()["answered"]) == [servers[0].url.removeprefix("http://").removesuffix("/v1")]


@pytest.mark.parametrize(("status", "code"), [(404, "model_not_found"), (401, "invalid_api_key"), (500, None)])
def test_a_server_of_several_that_takes_no_call_loses_none(
    servers: tuple[StandIn, StandIn], status: int, code: str | None
) -> None:
    servers[0].reply, servers[1].reply = (lambda body, n: refused(status, code=code)), slowly
    assert texts(servers[0].model(base_url=(servers[0].url, servers[1].url)), 60) == [f"q{i}" for i in range(60)]
    assert len(servers[0].requests) <= 50


@pytest.mark.slow
def test_a_server_that_dies_midway_and_comes_back_loses_no_call(servers: tuple[StandIn, StandIn]) -> None:
    servers[0].reply = slowly
    with limited(latency_seconds=0.05) as other:
        model = servers[0].model(base_url=(servers[0].url, other.url))
        for ticket, asked in enumerate(prompts(400)):
            model.submit(ticket, asked)
        replies = model.collect()
        while len(replies) < 100:
            replies += model.collect()
        other.die()
        while len(replies) < 300:
            replies += model.collect()
        with limited(port=other.port, latency_seconds=0.05) as again:
            while batch := model.collect():
                replies += batch
            for ticket, asked in enumerate(prompts(200)):
                model.submit(ticket, asked)
            while batch := model.collect():
                replies += batch
            assert again.counted().n_answered > 0
    assert len(replies) == 600 and all(isinstance(reply, Completion) for _, reply in replies)


def test_the_first_address_is_the_system_and_the_others_may_change() -> None:
    texts = [
        "openai(model='m', base_url='http://a/v1')",
        "openai(model='m', base_url=('http://a/v1',))",
        "openai(model='m', base_url=('http://a/v1', 'http://b/v1'))",
    ]
    parts = [catalog.build("model", text) for text in texts]
    assert len({catalog.spelled(part) for part in parts}) == 1
    assert {catalog.label(part) for part in parts} == {texts[0]}
    assert parts[2] == catalog.build("model", catalog.written(parts[2]))
    assert [part.replicas for part in parts if isinstance(part, Openai)] == [(), (), ("http://b/v1",)]
    assert catalog.spelled(catalog.build("model", texts[0].replace("//a", "//b"))) != catalog.spelled(parts[0])


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ("base_url=()", "base_url is empty"),
        ("base_url=('http://a/v1', 'http://a/v1')", "names an address twice"),
        ("base_url=('http://a/v1', 'http://A:80/v1/')", "names an address twice"),
        ("batch=True, base_url=('http://a/v1', 'http://b/v1')", "base_url has 2 addresses, and batch=True"),
        ("price_in=1e999", "price_in is inf; expected USD"),
        ("price_out=-1.0", "price_out is -1.0; expected USD"),
        ("base_url=('http://a/v1', 'http://me:hidden-word@b/v1')", "user name, password"),
        ("requests_per_minute=0", "requests_per_minute is 0"),
        ("tokens_per_minute=-1.0", "tokens_per_minute is -1"),
        ("patience_seconds=0.0", "patience_seconds is 0"),
    ],
)
def test_a_wrong_setting_is_refused_in_words(settings: str, complaint: str) -> None:
    with pytest.raises(PartError, match=complaint) as caught:
        catalog.build("model", f"openai(model='m', {settings})")
    assert "hidden-word" not in str(caught.value)


# --- servers with too much to do ------------------------------------------------------------------


@pytest.mark.parametrize("status", [429, 503, 529])
def test_a_refusal_for_now_is_no_attempt(servers: tuple[StandIn, StandIn], status: int) -> None:
    servers[0].reply = lambda body, n: refused(status, headers={"retry-after": "0.01"}) if n < 9 else said("Paris.")
    assert texts(servers[0].model(attempts=1), 1) == ["Paris."]


def test_a_pause_that_a_server_asks_for_holds_for_all_calls(servers: tuple[StandIn, StandIn]) -> None:
    servers[0].reply = lambda body, n: refused(429, headers={"retry-after": "0.6"}) if n == 1 else said("Paris.")
    texts(servers[0].model(concurrency=1), 3)
    first, second = servers[0].arrivals[:2]
    assert 0.6 <= second - first < 3.0


@pytest.mark.slow
def test_a_pause_for_one_call_does_not_hold_up_others_that_are_accepted(servers: tuple[StandIn, StandIn]) -> None:
    def reply(body: dict[str, Any], n: int) -> Reply:
        time.sleep(0.01)
        return refused(429, headers={"retry-after": "6"}) if n == 30 else said("Paris.")

    servers[0].reply = reply
    texts(servers[0].model(), 100)
    asked = [request["messages"][0]["content"] for request in servers[0].requests]
    assert len(asked) == 101
    assert asked.index(asked[29], 30) > 70  # 15 others were under way when it was refused.


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m2.5s"}, 62.5),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "120ms"}, 0.12),
        ({"x-ratelimit-remaining-tokens": "9", "x-ratelimit-reset-tokens": "6m0s"}, None),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "soon"}, None),
        ({"retry-after": "2", "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "9s"}, 2.0),
    ],
)
def test_limits_that_a_server_tells_are_waited_for(headers: dict[str, str], seconds: float | None) -> None:
    assert failures.retry_after(headers) == seconds


def test_stated_tokens_per_minute_are_held_where_replies_are_longer_than_requests_look(
    servers: tuple[StandIn, StandIn],
) -> None:
    status, headers, content = said("Paris.")
    usage = {"prompt_tokens": 990, "completion_tokens": 10, "total_tokens": 1000}
    servers[0].reply = lambda body, n: (status, headers, {**content, "usage": usage})
    model = servers[0].model(tokens_per_minute=20_000)
    for ticket, asked in enumerate(prompts(60)):
        model.submit(ticket, asked)
    replies = model.collect()
    while len(replies) < 20:
        replies += model.collect()
    time.sleep(0.5)
    assert len(servers[0].requests) == 20
    model.forget()


@pytest.mark.parametrize("status", [200, 500])
def test_a_server_that_counts_nothing_is_asked_on(servers: tuple[StandIn, StandIn], status: int) -> None:
    servers[0].reply = lambda body, n: (status if n < 3 else 200, {}, {**said("Paris.")[2], "usage": None})
    replies = servers[0].model(tokens_per_minute=20_000, attempts=3).generate(prompts(30))
    assert sum(isinstance(reply, Completion) for reply in replies) >= 28


def test_stated_requests_per_minute_are_held(servers: tuple[StandIn, StandIn]) -> None:
    model = servers[0].model(requests_per_minute=600)
    for ticket, asked in enumerate(prompts(30)):
        model.submit(ticket, asked)
    replies = model.collect()
    while len(replies) < 10:
        replies += model.collect()
    time.sleep(0.3)
    assert len(servers[0].requests) == 10  # As many as go into a second.
    model.forget()


# --- endpoints that cannot be used ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        (401, "invalid_api_key", "HTTP 401: no .*Check the key in OPENAI_API_KEY"),
        (404, "model_not_found", "HTTP 404: no .*Check model"),
        (429, "insufficient_quota", "HTTP 429: no"),
        (402, None, "HTTP 402: no .*Top up the account of the key in OPENAI_API_KEY"),
        (400, None, r"HTTP 400: no\. It answered no call\. Every call was refused in these words"),
        (500, None, "HTTP 500: no.*Look at the server's log"),
    ],
)
def test_the_first_few_calls_end_what_has_no_sense(
    servers: tuple[StandIn, StandIn], status: int, code: str | None, words: str
) -> None:
    servers[0].reply = lambda body, n: refused(status, code=code)
    model = servers[0].model()
    for ticket, asked in enumerate(prompts(500)):
        model.submit(ticket, asked)
    failed = []
    with pytest.raises(ModelError, match=words):
        while True:
            failed += model.collect()
    model.forget()
    assert len(failed) <= 16 and len(servers[0].requests) <= 100
    servers[0].reply = lambda body, n: said("Paris.")
    assert texts(model, 1) == ["Paris."]  # It was mended: whoever asks again is answered.


def test_what_came_before_an_endpoint_went_away_is_kept(servers: tuple[StandIn, StandIn]) -> None:
    servers[0].reply = lambda body, n: said("Paris.") if n <= 20 else refused(503, "overloaded")
    model = servers[0].model(patience_seconds=0.5)
    for ticket, asked in enumerate(prompts(60)):
        model.submit(ticket, asked)
    replies: list[tuple[int, Completion | Failure]] = []
    with pytest.raises(ModelError, match=r"overloaded\. It has not answered for \d+ seconds.*patience_seconds"):
        while True:
            replies += model.collect()
    assert len(replies) == 20 and all(isinstance(reply, Completion) for _, reply in replies)
    model.forget()
    assert model.collect() == []


def test_a_wrong_key_is_found_by_the_first_request_of_the_check(servers: tuple[StandIn, StandIn]) -> None:
    servers[0].reply = lambda body, n: refused(401, f"wrong key {SECRET}")
    with pytest.raises(ModelError, match="Check the key in OPENAI_API_KEY") as caught:
        servers[0].model().check()
    assert len(servers[0].requests) == 1 and SECRET not in str(caught.value)


def test_an_unknown_model_is_found_by_the_check_and_a_server_without_chat_is_not_mistaken_for_one(
    servers: tuple[StandIn, StandIn],
) -> None:
    servers[0].reply = lambda body, n: refused(404, "no such model")
    with pytest.raises(ModelError, match="no such model → Check model, and base_url"):
        servers[0].model().check()
    assert len(servers[0].requests) == 2
    plain = {"choices": [{"finish_reason": "stop", "text": " Paris."}]}
    servers[1].reply = lambda body, n: refused(404, "Not Found") if "messages" in body else (200, {}, plain)
    model = servers[1].model()
    assert {fact.value for fact in model.check().values()} == {None}
    assert isinstance(model.generate(prompts(1, layout="plain"))[0], Completion)


def test_all_servers_dead_end_in_one_message_that_names_each() -> None:
    ports = closed_port(), closed_port()
    model = Openai(model="m", base_url=tuple(f"http://127.0.0.1:{port}/v1" for port in ports))
    with pytest.raises(ModelError) as caught:
        model.check()
    assert all(str(caught.value).count(f"127.0.0.1:{port}: ConnectError") == 1 for port in ports)


# --- order ----------------------------------------------------------------------------------------


def test_the_oldest_call_goes_first_however_often_it_was_refused() -> None:
    async def order() -> list[int]:
        access = Access(endpoint="http://127.0.0.1/v1", key_variable="", headers={})
        server = Server(None, access, Window(2, 10.0))  # type: ignore[arg-type]
        server.is_there = True
        pool = Pool([server], 2, Quotas(None, None), 60.0, 6.0)
        first, second = await pool.place(), await pool.place()
        placed: list[int] = []

        async def place(after: Call | None = None) -> None:
            call = await pool.place(after=after)
            placed.append(call.number)
            pool.let_go(call)

        tasks = [asyncio.create_task(place()) for _ in range(3)]
        await asyncio.sleep(0)
        tasks += [asyncio.create_task(place(first)), asyncio.create_task(place(second))]
        cancelled = asyncio.create_task(place())
        await asyncio.sleep(0)
        cancelled.cancel()
        pool.let_go(second)
        await asyncio.gather(*tasks)
        return placed

    assert asyncio.run(order()) == [0, 1, 2, 3, 4]
