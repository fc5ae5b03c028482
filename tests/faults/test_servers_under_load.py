"""The viewer and the annotation server under many connections, connections that never ask, and odd addresses."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest
from asked_viewer import Client, serving
from hypothesis import given
from hypothesis import strategies as st
from made_answers import answer_rows, made_run

from shaketable.annotation.server import AnnotationHandler
from shaketable.store import Run
from shaketable.viewer import server
from shaketable.viewer.reply import Reply
from shaketable.viewer.server import Handler, LocalServer

SECONDS = 60
"""For what takes one or two."""
NAMES = (
    *("metric", "page", "at", "judge", "outcome", "repeats", "flag", "words", "sort", "order", "question", "model"),
    *("temperature", "repeat", "type", "tag.type", "tag.", "tag.x'", "first", "second", "only", "x'--"),
)
ODD = (
    "x'--",
    "-1",
    "0",
    "1e400",
    "\x00",
    "\ud800",
    "a" * 3000,
    "any",
    "right",
    "contains",
    "(none)",
    "{",
    "%",
    "'",
    '"',
)


class Plain:
    """A site of one page, which costs nothing."""

    def reply(self, steps: object, given: object) -> Reply:
        return Reply.json({"steps": str(steps)})

    def problem(self, status: int, text: str) -> Reply:
        return Reply.plain(status, text)

    def close(self) -> None: ...


@contextlib.contextmanager
def started(viewer: LocalServer) -> Iterator[LocalServer]:
    thread = threading.Thread(target=viewer.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield viewer
    viewer.shutdown()
    thread.join()


@contextlib.contextmanager
def lines_to(viewer: LocalServer, n: int, sent: bytes = b"") -> Iterator[list[socket.socket]]:
    """Connections that have sent something, and stay open."""
    with contextlib.ExitStack() as stack:
        lines = []
        for _ in range(n):
            line = stack.enter_context(socket.create_connection(("127.0.0.1", viewer.server_port), timeout=SECONDS))
            line.sendall(sent)
            lines.append(line)
        yield lines


def status_of(viewer: LocalServer) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", viewer.server_port, timeout=SECONDS)
    connection.request("GET", "/")
    return connection.getresponse().status


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    rows = [
        row
        for perturbation in ("unchanged", "removal")
        for temperature in (0.0, 1.0)
        for row in answer_rows([1, 0, None], perturbation=perturbation, temperature=temperature, type="a")
    ]
    return made_run(tmp_path_factory.mktemp("served") / "run", rows, ["contains", "token_f1"])


@pytest.mark.parametrize("handler", [Handler, AnnotationHandler])
def test_two_hundred_connections_at_once_are_all_answered(handler: type[Handler]) -> None:
    """All of them are there before the first one is taken, as when a burst meets a busy machine."""
    with LocalServer(Plain(), handler) as viewer, lines_to(viewer, 200) as lines, started(viewer):
        request = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{viewer.server_port}\r\nConnection: close\r\n\r\n".encode()
        for line in lines:
            line.sendall(request)
        assert all(line.recv(12) == b"HTTP/1.1 200" for line in lines)


def test_pages_of_a_run_are_answered_two_hundred_at_once(run: Run) -> None:
    with serving(run) as viewer, ThreadPoolExecutor(200) as pool:
        answers = list(pool.map(lambda _: Client(viewer).ask("/run/run/records.json")[0], range(200)))
    assert answers == [200] * 200


@pytest.mark.parametrize("handler", [Handler, AnnotationHandler])
@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\n"])
def test_connections_that_never_ask_keep_nobody_waiting(
    monkeypatch: pytest.MonkeyPatch, handler: type[Handler], sent: bytes
) -> None:
    monkeypatch.setattr(server, "MOST_CONNECTIONS", 20)
    n_before = threading.active_count()
    with LocalServer(Plain(), handler) as viewer, started(viewer), lines_to(viewer, 60, sent):
        assert [status_of(viewer) for _ in range(30)] == [200] * 30
        assert threading.active_count() <= n_before + 21


def test_three_hundred_that_never_ask_keep_nobody_waiting() -> None:
    with LocalServer(Plain()) as viewer, started(viewer), lines_to(viewer, 300, b"GET / HTTP/1.1\r\n"):
        assert [status_of(viewer) for _ in range(10)] == [200] * 10


def test_a_body_that_never_comes_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST_CONNECTIONS", 5)
    with LocalServer(Plain(), AnnotationHandler) as viewer, started(viewer):
        name = f"127.0.0.1:{viewer.server_port}"
        head = f"POST /entry HTTP/1.1\r\nHost: {name}\r\nOrigin: http://{name}\r\nContent-Length: 99\r\n\r\n{{"
        with lines_to(viewer, 20, head.encode()):
            assert status_of(viewer) == 200


def test_a_silent_connection_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Handler, "timeout", 0.1)
    with LocalServer(Plain()) as viewer, started(viewer), lines_to(viewer, 3, b"GET / HTTP/1.1\r\nHost: ") as lines:
        assert [line.recv(100) for line in lines] == [b"", b"", b""]


PAGES = (
    *("/answers", "/run/run/records", "/run/run/records.json", "/run/run/questions", "/run/run/question/q0"),
    *("/run/run/record/{key}", "/run/run/record/x'--"),
)


@pytest.fixture(scope="module")
def client(run: Run) -> Iterator[Client]:
    with serving(run) as viewer:
        yield Client(viewer)


def status_at(client: Client, page: str, asked: dict[str, str]) -> int:
    if "{key}" in page:
        page = page.format(key=json.loads(client.ask("/run/run/records.json")[2])["records"][0]["key"])
    query = "&".join(f"{quoted(name)}={quoted(value)}" for name, value in asked.items())
    status, _, body = client.ask(f"{quote(page)}?{query}")
    assert "is damaged" not in body
    return status


def quoted(text: str) -> str:
    return quote(text, safe="", errors="surrogatepass")


@pytest.mark.parametrize("name", NAMES)
def test_an_odd_parameter_is_never_an_error_of_the_server(client: Client, name: str) -> None:
    for page in PAGES:
        for value in ODD:
            assert status_at(client, page, {name: value}) in (200, 400, 404), (page, value)


@pytest.mark.parametrize("page", ["/run/run/records", "/run/run/records.json", "/run/run/record/{key}"])
def test_a_metric_that_is_none_is_refused(client: Client, page: str) -> None:
    assert status_at(client, page, {"judge": "x'--"}) == 404
    assert status_at(client, page, {"judge": "token_f1"}) == 200


@given(
    page=st.sampled_from(PAGES),
    asked=st.dictionaries(
        st.sampled_from(NAMES) | st.text(max_size=5), st.sampled_from(ODD) | st.text(max_size=9), max_size=4
    ),
)
def test_odd_parameters_together_are_never_an_error_of_the_server(
    client: Client, page: str, asked: dict[str, str]
) -> None:
    assert status_at(client, page, asked) in (200, 400, 404)
