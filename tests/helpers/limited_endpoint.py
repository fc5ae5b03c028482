"""An endpoint with a limit, a latency and moods, in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import os
import random
import socket
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from shaketable.models.openai import Openai

REASONS = {200: "OK", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests", 500: "Broken", 503: "Busy"}


@dataclass(kw_only=True)
class Limits:
    """What a server does; sent to it while it runs."""

    per_second: float | None = None
    """Requests that a token bucket lets through; None: all."""
    burst: float = 10.0
    latency_seconds: float = 0.0
    refused_share: float = 0.0
    """Of the requests, drawn by chance: they take nothing of the limit."""
    retry_after: str | None = None
    """The header that comes with a refusal."""
    n_slots: int | None = None
    """Requests that are worked on at once; the others wait."""
    status: int = 200
    """Of every reply, in place of the usual."""
    is_silent: bool = False
    """Takes requests and answers none."""


@dataclass
class Counted:
    """What a server has seen."""

    n_requests: int = 0
    n_answered: int = 0
    n_refused: int = 0
    most_at_once: int = 0
    answered_at: list[float] = field(default_factory=list)
    """By the clock that all processes of a machine share."""
    sent_at: list[float] = field(default_factory=list)


class Limited:
    """A server; `with limited(...) as server`."""

    def __init__(self, limits: Limits, port: int = 0) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(limits, theirs, port), daemon=True)
        self.process.start()
        self.port: int = self._pipe.recv()
        self.url = f"http://127.0.0.1:{self.port}/v1"

    def become(self, limits: Limits) -> float:
        """Change what it does; the time when it did."""
        self._pipe.send(limits)
        at: float = self._pipe.recv()
        return at

    def counted(self) -> Counted:
        self._pipe.send("count")
        counted: Counted = self._pipe.recv()
        return counted

    def die(self) -> None:
        self.process.kill()
        self.process.join()

    def model(self, **settings: Any) -> Openai:
        return Openai(**{"model": "stand-in", "base_url": self.url, **settings})


@contextlib.contextmanager
def limited(port: int = 0, **limits: Any) -> Iterator[Limited]:
    server = Limited(Limits(**limits), port)
    try:
        yield server
    finally:
        server.die()


def closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


# --- in its own process ---------------------------------------------------------------------------


class _Server:
    def __init__(self, limits: Limits) -> None:
        self.limits, self.counted = limits, Counted()
        self.rng = random.Random(0)
        self.tokens, self.filled_at = limits.burst, time.monotonic()
        self.n_at_once, self.n_working = 0, 0
        self.waiting: deque[asyncio.Future[None]] = deque()

    def become(self, limits: Limits) -> float:
        self._fill()
        self.limits = limits
        return time.monotonic()

    def _fill(self) -> None:
        now = time.monotonic()
        rate = self.limits.per_second or 0.0
        self.tokens, self.filled_at = min(self.limits.burst, self.tokens + rate * (now - self.filled_at)), now

    def status(self) -> int:
        if self.limits.status != 200:
            return self.limits.status
        if self.rng.random() < self.limits.refused_share:
            return 429
        if self.limits.per_second is None:
            return 200
        self._fill()
        if self.tokens < 1:
            return 429
        self.tokens -= 1
        return 200

    async def work(self) -> None:
        while self.limits.n_slots is not None and self.n_working >= self.limits.n_slots:
            self.waiting.append(asyncio.get_running_loop().create_future())
            await self.waiting[-1]
        self.n_working += 1
        await asyncio.sleep(self.limits.latency_seconds)
        self.n_working -= 1
        if self.waiting:
            self.waiting.popleft().set_result(None)

    async def reply(self) -> tuple[int, dict[str, Any]]:
        counted = self.counted
        counted.n_requests += 1
        counted.sent_at.append(time.monotonic())
        self.n_at_once += 1
        counted.most_at_once = max(counted.most_at_once, self.n_at_once)
        status = self.status()
        if self.limits.is_silent:
            await asyncio.sleep(3600)
        if status == 200:
            await self.work()
            counted.n_answered += 1
            counted.answered_at.append(time.monotonic())
        elif status in (429, 503):
            counted.n_refused += 1
        self.n_at_once -= 1
        if status != 200:
            return status, {"error": {"message": f"refused with {status}", "code": None}}
        message = {"role": "assistant", "content": "Paris."}
        usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
        return 200, {"choices": [{"finish_reason": "stop", "message": message}], "usage": usage, "model": "stand-in-2"}

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                if head.startswith("get ") and not self.limits.is_silent:
                    writer.write(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
                    await writer.drain()
                    continue
                if head.startswith("get "):
                    await asyncio.sleep(3600)
                length = int(head.partition("content-length:")[2].split("\r\n")[0])
                await reader.readexactly(length)
                status, content = await self.reply()
                data = json.dumps(content).encode()
                headers = f"content-type: application/json\r\ncontent-length: {len(data)}\r\n"
                if status in (429, 503) and self.limits.retry_after is not None:
                    headers += f"retry-after: {self.limits.retry_after}\r\n"
                writer.write(f"HTTP/1.1 {status} {REASONS[status]}\r\n{headers}\r\n".encode() + data)
                await writer.drain()
        writer.close()


def _serve(limits: Limits, pipe: Any, port: int) -> None:
    async def main() -> None:
        server = _Server(limits)
        listening = await asyncio.start_server(server.connected, "127.0.0.1", port, backlog=1024)
        pipe.send(listening.sockets[0].getsockname()[1])
        loop = asyncio.get_running_loop()

        def heard() -> None:
            try:
                order = pipe.recv()
            except EOFError:  # The parent is gone: asyncio would report this for ever.
                os._exit(0)
            pipe.send(server.counted if order == "count" else server.become(order))

        loop.add_reader(pipe.fileno(), heard)
        await listening.serve_forever()

    with contextlib.suppress(EOFError, KeyboardInterrupt):
        asyncio.run(main())
