"""The calls that batches take, each tried again as long as that may help."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from shaketable.errors import ModelError, ShaketableError
from shaketable.models.endpoint.access import Access
from shaketable.models.endpoint.awake import wait_for
from shaketable.models.endpoint.batches.files import seconds_for, write_lines
from shaketable.models.endpoint.batches.settings import BatchSettings
from shaketable.models.endpoint.batches.state import checked, checked_id
from shaketable.models.endpoint.event_loop import EventLoop
from shaketable.models.endpoint.failures import EndpointError, backoff, endpoint_error, seconds_to_wait
from shaketable.models.endpoint.words import Hide

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types import Batch

TAG = "shaketable"
"""The key of a batch's metadata that holds its token."""
DAY_SECONDS = 86_400
LISTING = 5
"""Times as long as a short reply: a list may have many pages."""
UNSURE = ("server", "timeout", "connection", "bad_reply")
"""Kinds of failures after which nobody knows whether the call had its effect."""

Given = TypeVar("Given")


class Unreachable(ModelError):  # noqa: N818 (it says what is the matter)
    """The endpoint did not answer, or not sensibly; a batch at it goes on."""


@dataclass(frozen=True, kw_only=True)
class Server:
    client: AsyncOpenAI
    loop: EventLoop
    access: Access
    settings: BatchSettings

    def upload(self, file: Path, token: str) -> str:
        async def call() -> str:
            with file.open("rb") as content:
                name = f"{TAG}-{token}.jsonl"
                made = await self.client.files.create(file=(name, content), purpose="batch", timeout=self._patience)
            return checked_id(made.id, "id", self._hide)

        seconds = seconds_for(file.stat().st_size, self._patience)
        return self._ask("uploading a file of requests (/files)", call, seconds)

    def create(self, file_id: str, path: str, token: str, since: float) -> Batch:
        """An endpoint that does not answer may have created it all the same: it is looked for before it is asked
        again."""

        async def call() -> Batch:
            made = await self.client.batches.create(
                input_file_id=file_id,
                endpoint=path,  # type: ignore[arg-type]
                completion_window=self.settings.batch_window,  # type: ignore[arg-type]
                metadata={TAG: token},
                timeout=self._patience,
            )
            return checked(made, self._hide)

        return self._ask("creating a batch (/batches)", call, before=lambda: self.find(token, since))

    def find(self, token: str, since: float) -> Batch | None:
        """The batch with this token, made since then by this machine's clock; None: there is none."""

        async def call() -> Batch | None:
            async for batch in self.client.batches.list(limit=100, timeout=self._patience):
                if (batch.metadata or {}).get(TAG) == token:
                    return checked(batch, self._hide)
                if batch.created_at < since - DAY_SECONDS:
                    break
            return None

        return self._ask("listing the batches (/batches)", call, LISTING * self._patience)

    def retrieve(self, batch_id: str) -> Batch:
        async def call() -> Batch:
            return checked(await self.client.batches.retrieve(batch_id, timeout=self._patience), self._hide)

        return self._ask(f"asking for batch {batch_id}", call)

    def download(self, file_id: str, target: Path, n_requests: int) -> None:
        """A file's content, as it comes: it may be larger than the memory."""

        async def call() -> None:
            streaming = self.client.files.with_streaming_response
            async with contextlib.AsyncExitStack() as held:
                async with asyncio.timeout(self._patience):
                    reply = await held.enter_async_context(streaming.content(file_id, timeout=self._patience))
                await write_lines(reply.http_response, target, n_requests, self._patience, self._hide)

        self._ask(f"downloading {file_id}", call, math.inf)

    @property
    def _patience(self) -> float:
        """Seconds without a byte, or for a short reply."""
        return self.settings.timeout_seconds

    @property
    def _hide(self) -> Hide:
        return self.access.hide_in_reply

    def _ask(
        self,
        doing: str,
        call: Callable[[], Coroutine[Any, Any, Given]],
        seconds: float | None = None,
        before: Callable[[], Given | None] | None = None,
    ) -> Given:
        """`seconds`: for one attempt; None: as for a short reply. `before`: looks, before each attempt but the first,
        whether an earlier one had its effect."""
        for attempt in range(1, self.settings.attempts + 1):
            if before is not None and attempt > 1 and (effect := before()) is not None:
                return effect
            try:
                return wait_for(self.loop.start(_within(call(), seconds or self._patience)))
            except Exception as error:
                failed, wait = self._failure(error, attempt)
            if wait is None or attempt == self.settings.attempts:
                break
            time.sleep(wait)
        message = f"{self.access.host}, {doing}: {self.access.hide(failed.message)}"
        raise (Unreachable if wait is not None or failed.kind in UNSURE else ModelError)(message)

    def _failure(self, error: Exception, attempt: int) -> tuple[EndpointError, float | None]:
        """What came in place of a reply, and the seconds until another attempt; None: it would not help."""
        from openai import APIError

        if isinstance(error, APIError):
            return endpoint_error(error, {}, self.settings, self._hide), seconds_to_wait(error, attempt)
        if isinstance(error, EndpointError):
            return error, backoff(attempt) if error.kind == "timeout" else None
        if isinstance(error, TimeoutError):
            message = f"no reply within {self._patience:g} seconds"
            return EndpointError("timeout", message, may_retry=True), backoff(attempt)
        words = self._hide(f"{type(error).__name__}: {error}")
        if _is_transport(error):
            return EndpointError("connection", words, may_retry=True), backoff(attempt)
        if isinstance(error, ShaketableError | OSError):
            raise error
        message = f"the reply has another shape than the API's ({words})"
        return EndpointError("bad_reply", message, may_retry=True), None


async def _within(call: Coroutine[Any, Any, Given], seconds: float) -> Given:
    async with asyncio.timeout(None if math.isinf(seconds) else seconds):
        return await call


def _is_transport(error: Exception) -> bool:
    """Whether a connection broke while a file came: the SDK hands on such errors of its HTTP library."""
    return isinstance(error, ConnectionError) or type(error).__module__.startswith("httpx")
