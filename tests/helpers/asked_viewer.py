"""A viewer on a thread of its own, and a client that asks it anything."""

from __future__ import annotations

import contextlib
import http.client
import threading
from collections.abc import Iterator
from typing import Any

from shaketable.store import Run
from shaketable.viewer.pages import RunSite
from shaketable.viewer.server import LocalServer


@contextlib.contextmanager
def serving(*runs: Run) -> Iterator[LocalServer]:
    with LocalServer(RunSite(runs)) as viewer:
        thread = threading.Thread(target=viewer.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield viewer
        viewer.shutdown()
        thread.join()


class Client:
    """Asks a viewer without tidying the address first, as browsers and most libraries do."""

    def __init__(self, viewer: LocalServer) -> None:
        self.viewer = viewer

    def ask(self, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.viewer.server_port, timeout=30)
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        reply = connection.getresponse()
        body = reply.read().decode("utf-8")
        connection.close()
        return reply.status, dict(reply.getheaders()), body


def follow(page: Any, link: Any) -> str:
    """Click, wait until another page is there, and tell its address."""
    with page.expect_navigation():
        link.click()
    return str(page.url)
