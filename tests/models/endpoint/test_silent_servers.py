"""Servers that say nothing, and what is told of those that are left out."""

from __future__ import annotations

import contextlib
import json
import logging
import re
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from limited_endpoint import closed_port
from stand_in_endpoint import Reply, StandIn, said

from shaketable.errors import ModelError
from shaketable.models.endpoint import failures, pool
from shaketable.models.endpoint.access import Access
from shaketable.models.endpoint.server import Server
from shaketable.models.endpoint.window import FIRST_SIZE, Window
from shaketable.models.openai import Openai
from shaketable.types import Completion, Message, Prompt, Sampling


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "FIRST_WAIT_SECONDS", 0.01)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-secret-that-must-stay-one")
    for name in ("SHAKETABLE_OFFLINE", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[StandIn]:
    running = StandIn()
    yield running
    running.server.shutdown()
    running.server.server_close()


@pytest.fixture
def other() -> Iterator[StandIn]:
    running = StandIn()
    yield running
    running.server.shutdown()
    running.server.server_close()


@pytest.fixture
def silent() -> Iterator[str]:
    """An address that takes connections and never reads from them."""
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"


def prompts(n: int) -> list[Prompt]:
    sampling = Sampling(temperature=0.7, max_tokens=20)
    asked = [(Message(role="user", content=f"q{i}"),) for i in range(n)]
    return [Prompt(messages=messages, sampling=sampling, seed=i) for i, messages in enumerate(asked)]


def answered(model: Openai, n: int) -> None:
    assert all(isinstance(reply, Completion) for reply in model.generate(prompts(n)))


def host_of(url: str) -> str:
    return url.removeprefix("http://").removesuffix("/v1")


def after(seconds: float) -> Any:
    def reply(body: dict[str, Any], n: int) -> Reply:
        time.sleep(seconds)
        return said("Paris.")

    return reply


# --- servers that say nothing ---------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 60])
def test_a_server_that_says_nothing_ends_the_run_soon(silent: str, n: int) -> None:
    begun = time.monotonic()
    with pytest.raises(ModelError, match=r"says nothing, neither to calls nor .*start_seconds.*It answered no call\."):
        Openai(model="m", base_url=silent, start_seconds=0.3).generate(prompts(n))
    assert time.monotonic() - begun < 60


def test_a_server_that_thinks_is_waited_for_and_one_line_says_so(
    server: StandIn, caplog: pytest.LogCaptureFixture
) -> None:
    server.reply = after(3.0)
    answered(server.model(start_seconds=1.5), 16)
    assert [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING] == [
        f"No reply from {host_of(server.url)} for 1.5 seconds. It answers other requests, so the model may be thinking "
        "or loading; a call may take timeout_seconds=120."
    ]


def test_nothing_is_told_of_a_server_that_answers(server: StandIn, caplog: pytest.LogCaptureFixture) -> None:
    answered(server.model(start_seconds=0.5), 50)
    time.sleep(0.6)
    assert not [record for record in caplog.records if record.levelno == logging.WARNING]


def test_a_server_whose_first_call_is_late_ends_the_run_after_one_time_limit(
    server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "START_SECONDS", 0.3)
    server.reply = after(3.0)
    with pytest.raises(ModelError, match=r"no reply within 0.5 seconds.*raise timeout_seconds"):
        server.model(timeout_seconds=0.5).check()
    assert len(server.requests) == 1


def test_one_silent_server_of_two_does_not_hold_up_a_run(
    server: StandIn, silent: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(failures, "FIRST_WAIT_SECONDS", 0.5)
    server.reply = after(0.1)
    model = server.model(base_url=(silent, server.url), start_seconds=0.3)
    begun = time.monotonic()
    answered(model, 200)
    assert time.monotonic() - begun < 15
    told = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(told) == 1 and f"{host_of(silent)} is left out" in told[0] and "says nothing" in told[0]
    [(host, reason)] = model.environment()["left_out"].items()
    assert host == host_of(silent) and "says nothing" in reason


def test_a_server_that_is_there_and_answers_no_call_is_left_out(
    server: StandIn, other: StandIn, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(pool, "SILENT_SECONDS", 0.5)
    monkeypatch.setattr(pool, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(failures, "FIRST_WAIT_SECONDS", 0.5)
    server.reply, other.reply = after(0.01), after(20.0)
    begun = time.monotonic()
    answered(server.model(base_url=(other.url, server.url)), 200)
    assert time.monotonic() - begun < 15 and len(other.requests) <= 40
    assert f"{host_of(other.url)} is left out" in caplog.text and "where others take" in caplog.text


def test_a_server_without_a_reply_looks_the_slower_the_longer_it_is_silent() -> None:
    access = Access(endpoint="http://127.0.0.1/v1", key_variable="", headers={})
    quick, silent = (Server(None, access, Window(16, 60.0)) for _ in range(2))  # type: ignore[arg-type]
    quick.answered(1.0, 0.5, quick.sent(0.5))
    assert quick.load(1.0, 0.5) == silent.load(1.0, 0.5)
    silent.sent(1.0)
    assert silent.load(1.0, 0.5) == 2 * quick.load(1.0, 0.5)
    assert silent.load(9.0, 0.5) > 16 * quick.load(9.0, 0.5)


# --- servers that only fail -----------------------------------------------------------------------


def test_a_server_that_answers_each_call_with_an_error_is_given_up_after_a_few(
    server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failures, "FIRST_WAIT_SECONDS", 0.5)
    server.reply = lambda body, n: (500, {}, "")
    begun = time.monotonic()
    with pytest.raises(ModelError, match=r"HTTP 500: no words\. It answered no call\. Look at the server's log"):
        server.model().check()
    assert time.monotonic() - begun < 8 and 3 <= len(server.requests) <= 5


@pytest.mark.parametrize("n_errors", [1, 2])
def test_an_error_that_passes_ends_no_run(server: StandIn, n_errors: int) -> None:
    server.reply = lambda body, n: (500, {}, "") if n <= n_errors else said("Paris.")
    server.model().check()


def test_a_key_that_is_revoked_midway_is_not_told_as_a_silence(server: StandIn) -> None:
    refusal: Reply = 401, {}, {"error": {"message": "revoked"}}
    server.reply = lambda body, n: said("Paris.") if n <= 20 else refusal
    with pytest.raises(ModelError, match="HTTP 401: revoked → Check the key in OPENAI_API_KEY") as caught:
        server.model().generate(prompts(100))
    assert not re.search(r"has not answered|seconds", str(caught.value))


# --- what is told of servers that are left out ----------------------------------------------------


@pytest.mark.parametrize("what", ["dead", "wrong key"])
def test_each_server_that_is_left_out_is_told_once(
    server: StandIn, other: StandIn, what: str, caplog: pytest.LogCaptureFixture
) -> None:
    refusal: Reply = 401, {}, {"error": {"message": "wrong key"}}
    server.reply, other.reply = after(0.01), lambda body, n: refusal
    address = other.url if what == "wrong key" else f"http://127.0.0.1:{closed_port()}/v1"
    model = server.model(base_url=(address, server.url))
    answered(model, 100)
    told = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    words = "HTTP 401: wrong key" if what == "wrong key" else "ConnectError"
    assert len(told) == 1 and f"{host_of(address)} is left out" in told[0] and words in told[0]
    assert words in model.environment()["left_out"][host_of(address)]


# --- slow servers with few threads ----------------------------------------------------------------


@pytest.fixture(params=[1, 2])
def few_threads(request: pytest.FixtureRequest) -> Iterator[str]:
    """A server whose threads each serve one connection at a time, and take longer for a call than the start limit."""
    with ThreadPoolExecutor(request.param) as threads, socket.create_server(("127.0.0.1", 0), backlog=512) as listening:

        def serve(connection: socket.socket) -> None:
            with connection, connection.makefile("rb") as reading:
                head = b"".join(iter(reading.readline, b"\r\n")).decode()
                length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
                if length:
                    reading.read(int(length[1]))
                    time.sleep(0.8)
                body = json.dumps(said("Paris.")[2]).encode()
                connection.sendall(b"HTTP/1.0 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    threads.submit(serve, listening.accept()[0])

        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        listening.shutdown(socket.SHUT_RDWR)


def test_a_slow_server_with_few_threads_is_not_dead(few_threads: str) -> None:
    answered(Openai(model="m", base_url=few_threads, start_seconds=0.4), 12)


def test_one_call_goes_before_a_server_says_anything() -> None:
    access = Access(endpoint="http://127.0.0.1/v1", key_variable="", headers={})
    server = Server(None, access, Window(256, 60.0))  # type: ignore[arg-type]
    for is_greeted, n in ((False, 1), (True, FIRST_SIZE)):
        server.is_greeted = is_greeted
        while server.ready_at(1.0) <= 1.0:
            server.sent(1.0)
        assert server.n_underway == n
