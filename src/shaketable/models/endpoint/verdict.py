"""What is said when an endpoint cannot be used: where, what came, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from shaketable.models.endpoint.access import Access
from shaketable.models.endpoint.failures import EndpointError
from shaketable.models.endpoint.window import Window

HINTS = {
    "unreachable": "Check that the server runs and that base_url is its address",
    "broken": "Look at the server's log",
    "busy": "Ask less (concurrency, requests_per_minute), or wait longer with patience_seconds",
    "unusable": "",  # The words on it say what to check.
    "refusal": "Every call was refused in these words",
    "request": "",
}


NEVER = "It answered no call"


class Troubled(Protocol):
    """A server as far as it is told of."""

    @property
    def access(self) -> Access: ...
    @property
    def trouble(self) -> EndpointError | None: ...


class Waited(Protocol):
    """A server as far as it is waited for."""

    @property
    def access(self) -> Access: ...
    @property
    def window(self) -> Window: ...


HINT_LATE = "Look at the server's log, or raise timeout_seconds: a call may take longer"


def describe_end(servers: Sequence[Troubled], seconds: float, *, has_answered: bool) -> str:
    since = f"It has not answered for {seconds:.0f} seconds" if has_answered else NEVER
    return "\n".join([*(describe(server, since) for server in servers if server.trouble is not None), KEPT])


KEPT = "Nothing more was asked, and what was answered is kept: run it again to go on."


def describe(server: Troubled, since: str) -> str:
    error = server.trouble
    assert error is not None, "There is nothing to tell of a server without trouble."
    words = server.access.hide(error.message).rstrip(".")
    hint = HINT_LATE if error.kind == "timeout" and error.blame == "broken" else HINTS[error.blame]
    # A key that was revoked or a quota that is spent ends a run at once.
    told = [words, "" if error.blame == "unusable" and since != NEVER else since, hint]
    return f"{server.access.host}: " + " ".join(f"{one}." for one in told if one)


def describe_left_out(server: Troubled) -> str:
    error = server.trouble
    assert error is not None, "There is nothing to tell of a server without trouble."
    words = server.access.hide(error.message).rstrip(".")
    return f"{server.access.host} is left out and tried now and then: {words}. Its calls go to the other servers."


def describe_waiting(servers: Sequence[Waited], seconds: float) -> str:
    hosts = ", ".join(server.access.host for server in servers)
    return (
        f"No reply from {hosts} for {seconds:g} seconds. It answers other requests, so the model may be thinking or "
        f"loading; a call may take timeout_seconds={servers[0].window.timeout_seconds:g}."
    )


def silent(seconds: float) -> EndpointError:
    words = (
        f"It connects and says nothing, neither to calls nor to GET /models, for {seconds:g} seconds. A server that is "
        "still starting gets more time by start_seconds"
    )
    return EndpointError("timeout", words, may_retry=True, blame="unreachable")


def slower(seconds: float, others_seconds: float) -> EndpointError:
    words = f"no reply within {seconds:.0f} seconds, where others take {others_seconds:.2g}"
    return EndpointError("timeout", words, may_retry=True, blame="broken")
