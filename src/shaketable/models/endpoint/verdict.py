"""What is said when an endpoint cannot be used: where, what came, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from shaketable.models.endpoint.access import Access
from shaketable.models.endpoint.failures import EndpointError

HINTS = {
    "unreachable": "Check that the server runs and that base_url is its address",
    "broken": "Look at the server's log",
    "busy": "Ask less (concurrency, requests_per_minute), or wait longer with patience_seconds",
    "unusable": "",  # The words on it say what to check.
    "request": "",
}


class Troubled(Protocol):
    """A server as far as it is told of."""

    @property
    def access(self) -> Access: ...
    @property
    def trouble(self) -> EndpointError | None: ...


def describe_end(servers: Sequence[Troubled], seconds: float, *, has_answered: bool) -> str:
    since = f"It has not answered for {seconds:.0f} seconds" if has_answered else "It answered no call"
    return "\n".join([*(describe(server, since) for server in servers if server.trouble is not None), KEPT])


KEPT = "Nothing more was asked, and what was answered is kept: run it again to go on."


def describe(server: Troubled, since: str) -> str:
    error = server.trouble
    assert error is not None, "There is nothing to tell of a server without trouble."
    words = server.access.hide(error.message).rstrip(".")
    hint = HINTS[error.blame]
    return f"{server.access.host}: {words}. {since}." + (f" {hint}." if hint else "")
