"""What every reply goes through: limits of its size, no key to another host, nothing that comes back with cookies."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from stand_in_endpoint import Reply, StandIn, said

from shaketable.models.endpoint import failures
from shaketable.models.endpoint.access import Access
from shaketable.models.endpoint.event_loop import EventLoop
from shaketable.models.endpoint.failures import EndpointError
from shaketable.models.endpoint.unpacking import Unpacker
from shaketable.models.endpoint.words import clean_json, plain_words
from shaketable.models.pipeline import Pipeline
from shaketable.types import Completion, Failure, Message, Prompt, Sampling

KEYS = {"OPENAI_API_KEY": "sk-a-key-that-stays-here", "TEAM_KEY": "tk-a-key-that-stays-too"}


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[StandIn, StandIn]]:
    monkeypatch.setattr(failures, "FIRST_WAIT_SECONDS", 0.01)
    for name in ("SHAKETABLE_OFFLINE", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    both = StandIn(), StandIn()
    yield both
    for server in both:
        server.server.shutdown()
        server.server.server_close()


def prompt() -> Prompt:
    messages = (Message(role="user", content="What is the capital of France?"),)
    return Prompt(messages=messages, sampling=Sampling(temperature=0.7, max_tokens=20), seed=5)


def systems(server: StandIn) -> list[Any]:
    template = '{"messages": [{"content": "{question}"}]}'
    return [
        server.model(headers={"X-Api-Key": "${TEAM_KEY}"}),
        Pipeline(
            http=f"{server.url}/chat/completions",
            template=template,
            answer="choices[0].message.content",
            headers={"X-Api-Key": "${TEAM_KEY}"},
        ),
    ]


# --- redirects and cookies ------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 307])
def test_a_redirect_to_another_host_is_told_and_gets_nothing(servers: tuple[StandIn, StandIn], status: int) -> None:
    """Another port is another server."""
    server, other = servers
    server.reply = lambda body, n: (status, {"location": f"{other.url}/chat/completions"}, {})
    for system in systems(server):
        [failure] = system.generate([prompt()])
        assert isinstance(failure, Failure) and failure.kind == "redirected"
        assert other.url.removesuffix("/v1") in failure.message and "nothing was sent there" in failure.message
    assert not other.requests


def test_a_redirect_at_the_same_host_is_followed(servers: tuple[StandIn, StandIn]) -> None:
    def reply(body: dict[str, Any], n: int) -> Reply:
        moved = 307, {"location": "/v2/chat/completions"}, {}
        return said("Paris.") if server.paths[-1].startswith("/v2") else moved

    server = servers[0]
    server.reply = reply
    for system in systems(server):
        [completion] = system.generate([prompt()])
        assert isinstance(completion, Completion) and completion.text == "Paris."
        assert server.headers[-1]["x-api-key"] == KEYS["TEAM_KEY"]


def test_cookies_do_not_come_back(servers: tuple[StandIn, StandIn]) -> None:
    server = servers[0]
    server.reply = lambda body, n: (200, {"set-cookie": f"name{n}=value"}, said("Paris.")[2])
    for system in systems(server):
        system.generate([prompt()])
        system.generate([prompt()])
    assert len(server.headers) == 4 and not any("cookie" in headers for headers in server.headers)


def test_a_server_is_told_that_it_may_pack_with_gzip_alone(servers: tuple[StandIn, StandIn]) -> None:
    for system in systems(servers[0]):
        system.generate([prompt()])
    assert {headers["accept-encoding"] for headers in servers[0].headers} == {"gzip"}


def test_what_cannot_be_asked_of_a_pipeline_is_a_failure(
    servers: tuple[StandIn, StandIn], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no lane that is silent for ever."""
    half = replace(prompt(), messages=(Message(role="user", content="\ud800"),))
    [failure] = systems(servers[0])[1].generate([half])
    assert isinstance(failure, Failure) and failure.kind == "bad_request"
    monkeypatch.delenv("SHAKETABLE_ALLOW", raising=False)
    stranger = Pipeline(http="https://stranger.example/ask", headers={"X-Api-Key": "${TEAM_KEY}"})
    [failure] = stranger.generate([prompt()])
    assert isinstance(failure, Failure) and "Nothing was sent" in failure.message


# --- bodies -----------------------------------------------------------------------------------------


def unpacked(body: bytes, packing: str, most: int = 1000, n_pieces: int = 3) -> bytes:
    unpacker = Unpacker({"content-encoding": packing} if packing else {}, most)
    size = -(-len(body) // n_pieces)
    pieces = [body[i : i + size] for i in range(0, len(body), size)]
    return b"".join(one for piece in pieces for one in unpacker.unpack(piece)) + unpacker.end()


@pytest.mark.parametrize(("packing", "pack"), [("", bytes), ("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_a_body_is_unpacked_up_to_its_limit(packing: str, pack: Any) -> None:
    assert unpacked(pack(b"ab" * 500), packing) == b"ab" * 500
    with pytest.raises(EndpointError, match="the reply has more than 0 MB"):
        unpacked(pack(b"ab" * 500 + b"c"), packing)


@pytest.mark.parametrize(
    ("body", "packing", "complaint"),
    [
        (gzip.compress(b"x" * 100, mtime=0)[:-10], "gzip", "breaks off"),
        (b"no gzip at all", "gzip", "cannot be unpacked"),
        (b"", "br", "packed with br"),
        (b"", "gzip, gzip", "packed with gzip, gzip"),
    ],
)
def test_a_body_that_cannot_be_unpacked_is_told(body: bytes, packing: str, complaint: str) -> None:
    with pytest.raises(EndpointError, match=complaint):
        unpacked(body, packing)


def test_a_few_bytes_that_stand_for_many_are_not_unpacked_at_once() -> None:
    pieces = list(Unpacker({"content-encoding": "gzip"}).unpack(gzip.compress(b" " * 10_000_000)))
    assert max(map(len, pieces)) < 500_000 and sum(map(len, pieces)) > 9_000_000


# --- words ------------------------------------------------------------------------------------------


def test_a_secret_is_hidden_in_whatever_spelling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_KEY", "tk/A+Key=1")
    access = Access(endpoint="http://127.0.0.1/v1", key_variable="", headers={"X-Api-Key": "${TEAM_KEY}"})
    assert access.hide("tk/a+key=1, tk%2FA%2BKey%3D1") == "***, ***"
    for spelled in ('{"a": "tk/A+Key=1"}', r'{"a": "tk\/A+Key=1"}', r'{"a": "\u0074k/A+Key=1"}'):
        assert clean_json(spelled, access.hide_in_reply) == {"a": "***"}
    assert clean_json('{"tk/A+Key=1": [["x tk/A+Key=1"]]}', access.hide_in_reply) == {"***": [["x ***"]]}


def test_half_characters_and_nuls_are_replaced() -> None:
    assert clean_json(r'["\ud800.", "a\u0000b", "\ud83d\ude00"]', str) == ["�.", "a�b", "😀"]
    assert plain_words("a\x1b[2J\nb\ud800") == "a [2J b?"


# --- the event loop -------------------------------------------------------------------------------


def test_a_loop_that_is_closed_cancels_what_is_under_way() -> None:
    loop = EventLoop("test")
    reply = loop.start(asyncio.sleep(3600))
    loop.close()
    with pytest.raises((asyncio.CancelledError, Exception)) as told:
        reply.result(timeout=10)
    assert type(told.value).__name__ == "CancelledError"
