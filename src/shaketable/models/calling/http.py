"""Questions → a pipeline behind a web address and back, tried again where that may help."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass

from shaketable.errors import ModelError
from shaketable.models.calling.asking import completion_of, given_by, unasked
from shaketable.models.calling.lanes import Closed, HandOver
from shaketable.models.calling.outcome import refuse_length
from shaketable.models.calling.passages import NotUnderstood, read_passages
from shaketable.models.calling.template import Template, follow
from shaketable.models.endpoint.access import Access
from shaketable.models.endpoint.connections import keep_replies_apart
from shaketable.models.endpoint.event_loop import EventLoop
from shaketable.models.endpoint.failures import (
    LONGEST_WAIT_SECONDS,
    MOST_SEARCHED,
    EndpointError,
    backoff,
    kind_of_status,
    retry_after,
)
from shaketable.models.endpoint.fields import LONGEST_NAME
from shaketable.models.endpoint.hiding import own_hide
from shaketable.models.endpoint.intake import Intake
from shaketable.models.endpoint.parsing import parse_reply
from shaketable.models.endpoint.words import clean_text
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
    """On an event loop of its own, so that a whole reply, its headers included, has one time limit."""

    def __init__(self, service: Service) -> None:
        import httpx

        self.service, self._own_hide = service, own_hide()
        self._loop = EventLoop("shaketable-pipeline")
        # The time limit is that of the whole reply.
        settings = Intake(self._hide_all).settings()
        self._client = keep_replies_apart(httpx.AsyncClient(timeout=None, follow_redirects=True, **settings))
        self._is_closed = False

    def call(self, prompt: Prompt, hand_over: HandOver) -> Completion | Failure:
        takes = self.service.template.slots
        if (failure := unasked(prompt, takes)) is not None:
            return failure
        try:
            reply, seconds = self._ask(self.service.template.fill(given_by(prompt)))
            return completion_of(self._read(reply), prompt, takes, seconds)
        except EndpointError as error:
            message = self._hide_all(error.message)[:500]
            return Failure(kind=error.kind, message=message, step="generate", may_retry=error.may_retry)
        except Closed:
            raise
        except Exception as error:  # Whatever a server thinks of: it spoils its own reply, and no lane falls silent.
            words = self._hide_all(f"{type(error).__name__}: {error}")[:LONGEST_NAME]
            message = f"the reply cannot be read ({words})"
            return Failure(kind="bad_reply", message=message, step="generate", may_retry=True)

    def _hide(self, text: str) -> str:
        return self._own_hide(self.service.access.hide_in_reply(text))

    def _hide_all(self, text: str) -> str:
        """In words of ours, where nothing is as it has to be."""
        return self._own_hide(self.service.access.hide(text))

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._loop.start(self._client.aclose()).add_done_callback(lambda closed: self._loop.close())

    def _ask(self, body: Json) -> tuple[Json, float]:
        """The parsed reply and the seconds that its attempt took."""
        import httpx

        for attempt in range(1, self.service.attempts + 1):
            started = time.perf_counter()
            wait: float | None = backoff(attempt)
            try:
                received = self._loop.start(self._post(body)).result()
                if 200 <= received.status < 300:
                    return parse_reply(received.content, self._hide), time.perf_counter() - started
                failed, wait = self._refusal(received, attempt)
            except EndpointError as error:
                failed, wait = error, backoff(attempt) if error.kind == "bad_reply" else None
            except TimeoutError:
                failed = EndpointError("timeout", f"no reply within {self.service.seconds:g} seconds", may_retry=True)
            except (httpx.HTTPError, httpx.InvalidURL, RuntimeError, CancelledError) as error:
                if self._is_closed:  # A closed client is a RuntimeError, and a call under way is cancelled.
                    raise Closed from error
                words = self._hide(f"{type(error).__name__}: {error}")
                failed = EndpointError("connection", words, may_retry=True)
            except ValueError as error:  # Half a character in the question.
                raise EndpointError("bad_request", f"it cannot be sent as JSON ({error})", may_retry=False) from error
            except ModelError as error:  # A key that may not go there.
                raise EndpointError("refused_setting", str(error), may_retry=True) from error
            if wait is None or attempt == self.service.attempts:
                break
            time.sleep(wait)
        raise failed

    async def _post(self, body: Json) -> _Received:
        access = self.service.access
        async with asyncio.timeout(self.service.seconds):
            response = await self._client.post(access.endpoint, json=body, headers=access.filled_headers)
        return _Received(status=response.status_code, headers=response.headers, content=response.content)

    def _refusal(self, received: _Received, attempt: int) -> tuple[EndpointError, float | None]:
        """What the server says against it, and the seconds until another attempt; None: it would not help."""
        status, words = received.status, clean_text(received.text, self._hide)
        kind, may_retry = kind_of_status(status, words[:MOST_SEARCHED])
        failed = EndpointError(kind, f"HTTP {status}: {words or 'without a word'}", may_retry=may_retry)
        if status not in (408, 409, 429) and status < 500:
            return failed, None
        asked = retry_after(received.headers)
        is_near = asked is not None and asked <= LONGEST_WAIT_SECONDS
        return failed, asked if is_near else backoff(attempt)

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
                passages = read_passages(follow(service.contexts, reply), "contexts")
                refuse_length("".join(str(passage["text"]) for passage in passages), "contexts are texts")
                told["contexts"] = list[Json](passages)
        except (LookupError, NotUnderstood, RecursionError) as error:
            raise EndpointError("bad_reply", self._hide(str(error.args[0])), may_retry=False) from error
        return told
