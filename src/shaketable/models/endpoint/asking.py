"""One request and its attempts: what an endpoint refuses for now is asked again, what it cannot do is told."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from shaketable.errors import ShaketableError
from shaketable.models.endpoint.choice import estimate_tokens
from shaketable.models.endpoint.failures import LONGEST_WAIT_SECONDS, EndpointError, backoff, endpoint_error
from shaketable.models.endpoint.fields import LONGEST_NAME, count_of, mapping_of
from shaketable.models.endpoint.negotiation import Negotiated
from shaketable.models.endpoint.parsing import parse_reply
from shaketable.models.endpoint.pool import Call, Pool
from shaketable.models.endpoint.request import Dialect
from shaketable.types import Json

SHORT_WAITS, MOST_DOUBLINGS = 3, 2
"""Of a call that was refused: so often it waits a moment only, for the pace of all calls is what spares the server, and
with waits of seconds the last calls of a run would take as long as hundreds before them. Then it waits up to a second:
it may be one that is always refused."""
MANY_REFUSALS = 20
"""A call that was refused so often, for as long as the patience, is given up though others are answered."""


class Asker(Dialect, Protocol):
    """The settings of the part that say how long it asks."""

    @property
    def attempts(self) -> int: ...
    @property
    def timeout_seconds(self) -> float: ...
    @property
    def patience_seconds(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Answered:
    """A reply to a request."""

    content: Any
    seconds: float
    """Of the attempt that was answered."""
    host: str
    body: Mapping[str, Json]
    """What was sent, without the settings that the endpoint does not take."""


async def ask(
    pool: Pool,
    body: Mapping[str, Json],
    asker: Asker,
    refused: dict[tuple[str, str], EndpointError],
    negotiated: Negotiated,
) -> Answered:
    """Raises EndpointError where the call failed, ModelError where the endpoint cannot be used. `refused` are values of
    parameters that the endpoint does not take, as far as it was asked: they are not sent again."""
    n_tokens = _estimate(body) if pool.quotas.counts_tokens else 0.0
    call: Call | None = None
    attempt, n_refused, refused_at = 1, 0, 0.0
    while True:
        call = await pool.place(n_tokens, after=call)
        body = negotiated.fit(body)
        try:
            if (known := _known_refusal(body, refused)) is not None:
                raise known
            content, seconds = await _send(call, body, asker)
        except EndpointError as error:
            _settle_far_wait(error, pool)
            pool.quotas.lose(call.tokens)
            if error.parameter is not None:
                refused[error.parameter, repr(body[error.parameter])] = error
            error.host = call.server.access.host
            is_free = pool.failed(call, error)
            if negotiated.learn(error, body, may_drop_extensions=asker.extended is None):
                continue
            if error.blame == "busy":
                n_refused, refused_at = n_refused + 1, refused_at or time.monotonic()
                if n_refused >= MANY_REFUSALS and time.monotonic() - refused_at > asker.patience_seconds:
                    raise
                await asyncio.sleep(wait_when_refused(n_refused) if error.wait is None else error.wait)
            elif error.blame == "unreachable":
                await asyncio.sleep(backoff(1))
            elif not is_free:
                if error.blame != "broken" or error.kind == "bad_reply" or attempt >= asker.attempts:
                    raise
                await asyncio.sleep(backoff(attempt) if error.wait is None else error.wait)
                attempt += 1
        except BaseException:
            pool.quotas.lose(call.tokens)
            pool.let_go(call)
            raise
        else:
            pool.answered(call, seconds, _count(content) or n_tokens)
            return Answered(content, seconds, call.server.access.host, body)


def _settle_far_wait(error: EndpointError, pool: Pool) -> None:
    """A server that wants a pause of hours is asked again as if it had not said so, as long as it answers others."""
    if error.wait is None or error.wait <= LONGEST_WAIT_SECONDS:
        return
    if error.blame == "busy" and not pool.answers_others():
        error.blame = "unusable"
    else:
        error.wait = None


def wait_when_refused(n_refused: int) -> float:
    """Seconds before a call that was refused so often is asked again, where the server does not say."""
    return backoff(min(n_refused - SHORT_WAITS, MOST_DOUBLINGS))


def _known_refusal(body: Mapping[str, Json], refused: Mapping[tuple[str, str], EndpointError]) -> EndpointError | None:
    if not refused:
        return None
    return next((refused[name, repr(value)] for name, value in body.items() if (name, repr(value)) in refused), None)


async def _send(call: Call, body: Mapping[str, Json], asker: Asker) -> tuple[Any, float]:
    """The parsed reply and its seconds. Whatever happens to one call is told of that call."""
    try:
        return await _exchange(call, body, asker)
    except (EndpointError, ShaketableError):
        raise
    except Exception as error:  # What a server sends may break the SDK at any place.
        words = call.server.access.hide_in_reply(f"{type(error).__name__}: {error}")
        message = f"the reply cannot be read ({words[:LONGEST_NAME]})"
        raise EndpointError("bad_reply", message, may_retry=True, blame="broken") from error


async def _exchange(call: Call, body: Mapping[str, Json], asker: Asker) -> tuple[Any, float]:
    from openai import APIError

    path = "/chat/completions" if "messages" in body else "/completions"
    hide = call.server.access.hide_in_reply
    started = time.perf_counter()
    try:
        async with asyncio.timeout(asker.timeout_seconds) as call.limit:
            content = await call.server.client.post(path, body=body, cast_to=bytes)
        seconds = time.perf_counter() - started
    except TimeoutError as error:
        message = f"no reply within {asker.timeout_seconds:g} seconds"
        raise EndpointError("timeout", message, may_retry=True, blame="broken") from error
    except APIError as error:
        raise endpoint_error(error, body, asker, hide) from error
    except ValueError as error:  # half a character, or a temperature that is no number
        message = f"the prompt cannot be sent as JSON ({error})"
        raise EndpointError("bad_request", message, may_retry=False) from error
    return parse_reply(content, hide), seconds


def _estimate(body: Mapping[str, Json]) -> float:
    """Tokens that a request takes at most, roughly: those of its texts, and all that it may generate."""
    texts = json.dumps(body.get("messages") or body.get("prompt") or "", ensure_ascii=False)
    most = body.get("max_tokens") or body.get("max_completion_tokens") or 0
    return estimate_tokens(texts) + (float(most) if isinstance(most, int | float) else 0.0)


def _count(content: Any) -> float | None:
    """Tokens that a request took; None: the endpoint does not say, or nothing that can be."""
    usage = mapping_of(content.get("usage")) if isinstance(content, dict) else {}
    if (n_tokens := count_of(usage.get("total_tokens"))) is not None:
        return n_tokens
    given = [count_of(usage.get(name)) for name in ("prompt_tokens", "completion_tokens")]
    return sum(n for n in given if n is not None) if any(n is not None for n in given) else None
