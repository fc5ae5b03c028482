"""A small web server for this machine alone: it hands addresses to a site, and answers nobody else."""

from __future__ import annotations

import contextlib
import http.server
import socket
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import parse_qsl, unquote, urlsplit

from shaketable.errors import RunError, ShaketableError
from shaketable.text.unseen import visible
from shaketable.viewer.reply import Reply

LOOPBACK = "127.0.0.1"
MOST_CONNECTIONS = 256
"""At a time, each with a thread of its own."""
WAITING = 1024
"""Connections that the system keeps until there is a thread for them."""
MOST_TOLD = 300
"""Characters of what is wrong with a request."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""Pictures carry their styles inline; scripts come from the package alone, and none is made from data."""
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Site(Protocol):
    """Pages by their address. Any number of threads may ask."""

    def reply(self, steps: Sequence[str], given: Mapping[str, str]) -> Reply: ...
    def problem(self, status: int, text: str) -> Reply: ...
    def close(self) -> None: ...


class Handler(http.server.BaseHTTPRequestHandler):
    server: LocalServer
    server_version = "shaketable"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = 30.0
    """Seconds of silence after which a connection is closed."""

    def handle_one_request(self) -> None:
        self.server.unasked[self.connection] = True
        super().handle_one_request()

    def parse_request(self) -> bool:
        """Only when all of a request's head is there does anybody wait for an answer."""
        is_whole = super().parse_request()
        is_open = self.server.unasked.pop(self.connection, False)
        self.close_connection = self.close_connection or not is_open
        return is_whole and is_open

    def read_body(self, n_bytes: int) -> bytes:
        self.server.unasked[self.connection] = True
        body = self.rfile.read(n_bytes)
        self.server.unasked.pop(self.connection, None)
        return body

    def do_GET(self) -> None:
        self._send(self._reply())

    do_HEAD = do_GET  # noqa: N815 (the name that the standard library calls)

    def _reply(self) -> Reply:
        site = self.server.site
        if self.headers.get("Host", "") not in self.server.names:
            return Reply.plain(403, f"This server answers to {' and '.join(self.server.names)} alone.")
        try:
            url = urlsplit(self.path)
            steps = [unquote(step) for step in url.path.strip("/").split("/")] if url.path.strip("/") else []
            given = dict(parse_qsl(url.query, keep_blank_values=False))
        except ValueError:
            return Reply.plain(400, "This is no address.")
        try:
            return site.reply(steps, given)
        except ShaketableError as error:
            return site.problem(404, str(error))
        except Exception:
            sys.stderr.write(visible(traceback.format_exc()))
            return site.problem(500, "This page could not be made. The terminal says more.")

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        policy = {"Content-Security-Policy": reply.policy or POLICY}
        length = {"Content-Type": reply.kind, "Content-Length": str(len(reply.body))}
        for name, value in (HEADERS | policy | length).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: each look at a page is nobody's business."""


class LocalServer(http.server.ThreadingHTTPServer):
    """The server of a site, bound to the loopback address. `port` 0 takes one that is free.

    Where there are as many connections as there may be, the one that has waited longest without a whole request makes
    room: connections that are opened and left keep nobody else from an answer.
    """

    daemon_threads = True
    request_queue_size = WAITING

    def __init__(self, site: Site, handler: type[Handler] = Handler, port: int = 0) -> None:
        self.site = site
        self.unasked: dict[socket.socket, bool] = {}
        """Connections without a whole request, the oldest first: they may be closed."""
        self._room = threading.Semaphore(MOST_CONNECTIONS)
        try:
            super().__init__((LOOPBACK, port), handler)
        except OSError as error:
            raise RunError(
                f"Port {port} of {LOOPBACK} cannot be used: {error.strerror}. Give another with --port, or none."
            ) from error

    def process_request(self, request: Any, client_address: Any) -> None:
        while not self._room.acquire(timeout=0.01):
            with contextlib.suppress(StopIteration, OSError, KeyError, RuntimeError):  # It has ended by itself.
                oldest = next(iter(self.unasked))
                del self.unasked[oldest]
                oldest.shutdown(socket.SHUT_RDWR)
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._room.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.unasked.pop(request, None)
            self._room.release()

    @property
    def address(self) -> str:
        return f"http://{LOOPBACK}:{self.server_port}/"

    @property
    def names(self) -> tuple[str, ...]:
        """What a browser may call this server; another name was pointed here by somebody else."""
        return tuple(f"{host}:{self.server_port}" for host in (LOOPBACK, "localhost"))

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that goes away in the middle is no mistake; anything else is told in a line."""
        error = sys.exc_info()[1]
        if not isinstance(error, ConnectionError | TimeoutError):
            words = " ".join(visible(f"{type(error).__name__}: {error}").split())
            sys.stderr.write(f"A request could not be answered: {words[:MOST_TOLD]}\n")

    def server_close(self) -> None:
        super().server_close()
        self.site.close()
