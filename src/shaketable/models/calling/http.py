"""Questions → a pipeline behind a web address and back, tried again where that may help."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass

from shaketable.models.calling.asking import completion_of, given_by, unasked
from shaketable.models.calling.lanes import Closed, HandOver
from shaketable.models.calling.outcome import refuse_length
from shaketable.models.calling.passages import NotUnderstood, read_passages
from shaketable.models.calling.template import Template, follow
from shaketable.models.endpoint.access import Access
from shaketable.models.endpoint.failures import (
    LONGEST_WAIT_SECONDS,
    EndpointError,
    backoff,
    kind_of_status,
    retry_after,
)
from shaketable.text.normalization import without_surrogates
from shaketable.types import Completion, Failure, Json, Prompt


@dataclass(frozen=True, kw_only=True, slots=True)
class Service:
    """What is asked, and where its answer stands."""

    access: Access
    template: Template
    answer: tuple[str, ...]
    contexts: tuple[str, ...] | None
    seconds: float
    attempts: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Received:
    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace").strip()


class HttpCaller:
    def __init__(self, service: Service) -> None:
        import httpx

        self.service = service
        self._client = httpx.Client(timeout=service.seconds, follow_redirects=True)
        self._is_closed = False

    def call(self, prompt: Prompt, hand_over: HandOver) -> Completion | Failure:
        takes = self.service.template.slots
        if (failure := unasked(prompt, takes)) is not None:
            return failure
        try:
            reply, seconds = self._ask(self.service.template.fill(given_by(prompt)))
            return completion_of(self._read(reply), prompt, takes, seconds)
        except EndpointError as error:
            message = without_surrogates(self.service.access.hide(error.message)[:500])
            return Failure(kind=error.kind, message=message, step="generate", may_retry=error.may_retry)

    def close(self) -> None:
        self._is_closed = True
        self._client.close()

    def _ask(self, body: Json) -> tuple[Json, float]:
        """The parsed reply and the seconds that its attempt took."""
        import httpx

        for attempt in range(1, self.service.attempts + 1):
            started = time.perf_counter()
            wait: float | None = backoff(attempt)
            try:
                received = self._post(body)
                if 200 <= received.status < 300:
                    return _parsed(received), time.perf_counter() - started
                failed, wait = _refusal(received, attempt)
            except (TimeoutError, httpx.TimeoutException):
                failed = EndpointError("timeout", f"no reply within {self.service.seconds:g} seconds", may_retry=True)
            except (httpx.HTTPError, RuntimeError) as error:  # A closed client is a RuntimeError.
                if self._is_closed:
                    raise Closed from error
                failed = EndpointError("connection", f"{type(error).__name__}: {error}", may_retry=True)
            if wait is None or attempt == self.service.attempts:
                break
            time.sleep(wait)
        raise failed

    def _post(self, body: Json) -> _Received:
        """The whole response within the limit: the client's own limit is of each piece of it."""
        deadline = time.monotonic() + self.service.seconds
        access = self.service.access
        with self._client.stream("POST", access.endpoint, json=body, headers=access.filled_headers) as response:
            content = b""
            for piece in response.iter_bytes():
                content += piece
                if time.monotonic() > deadline:
                    raise TimeoutError
            return _Received(status=response.status_code, headers=response.headers, content=content)

    def _read(self, reply: Json) -> dict[str, Json]:
        service = self.service
        try:
            text = follow(service.answer, reply)
            if not isinstance(text, str) or not text.strip():
                found = "empty" if isinstance(text, str) else f"{text!r:.80}"
                raise LookupError(f"{'.'.join(service.answer)} is {found}; expected the answer as text")
            refuse_length(text, f"{'.'.join(service.answer)} is a text")
            told: dict[str, Json] = {"text": text}
            if service.contexts is not None:
                told["contexts"] = list[Json](read_passages(follow(service.contexts, reply), "contexts"))
        except (LookupError, NotUnderstood) as error:
            raise EndpointError("bad_reply", str(error.args[0]), may_retry=False) from error
        return told


def _parsed(received: _Received) -> Json:
    try:
        parsed: Json = json.loads(received.content)
        return parsed
    except ValueError as error:
        message = f"the reply is not JSON; it begins with {received.text[:80]!r}"
        raise EndpointError("bad_reply", message, may_retry=True) from error


def _refusal(received: _Received, attempt: int) -> tuple[EndpointError, float | None]:
    """What the server says against it, and the seconds until another attempt; None: it would not help."""
    status, words = received.status, received.text
    kind, may_retry = kind_of_status(status, words)
    failed = EndpointError(kind, f"HTTP {status}: {words or 'without a word'}", may_retry=may_retry)
    if status not in (408, 409, 429) and status < 500:
        return failed, None
    asked = retry_after(received.headers)
    if asked is not None and asked > LONGEST_WAIT_SECONDS:
        return failed, None
    return failed, backoff(attempt) if asked is None else asked
