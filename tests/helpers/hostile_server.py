"""An endpoint that means harm, in a process of its own: it draws faults, and keeps a log of what it did to whom."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import multiprocessing
import os
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hostile_replies import FAULTS, SECRET_HEADERS, Asked, Sent, good

from shaketable.models.openai import Openai

GOOD = "good"
REASONS = {200: "OK", 307: "Elsewhere", 400: "Bad", 429: "Too Many", 500: "Broken", 503: "Busy"}


@dataclass(frozen=True, kw_only=True)
class Malice:
    """What a server does."""

    rate: float = 0.3
    """Share of requests that get a fault."""
    faults: tuple[str, ...] = tuple(FAULTS)
    seed: int = 0


@dataclass
class Log:
    """What a server has done."""

    n_requests: int = 0
    n_answers: int = 0
    """Complete answers that were sent, whatever stood beside them."""
    by_fault: Counter[str] = field(default_factory=Counter)
    by_prompt: dict[str, list[str]] = field(default_factory=dict)
    """The last message of a request, or its plain prompt → what was done to each request that had it."""


class Hostile:
    """A server; `with hostile(...) as server`."""

    def __init__(self, malice: Malice) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(malice, theirs), daemon=True)
        self.process.start()
        port: int = self._pipe.recv()
        self.url = f"http://127.0.0.1:{port}/v1"

    def become(self, malice: Malice) -> None:
        """Do something else from now on, with a new log."""
        self._pipe.send(malice)
        self._pipe.recv()

    def log(self) -> Log:
        self._pipe.send("log")
        log: Log = self._pipe.recv()
        return log

    def model(self, **settings: Any) -> Openai:
        return Openai(**{"model": "hostile", "base_url": self.url, **settings})

    def die(self) -> None:
        self.process.kill()
        self.process.join()


@contextlib.contextmanager
def hostile(**malice: Any) -> Iterator[Hostile]:
    server = Hostile(Malice(**malice))
    try:
        yield server
    finally:
        server.die()


# --- in its own process ---------------------------------------------------------------------------


class _Server:
    def __init__(self, malice: Malice) -> None:
        self.become(malice)

    def become(self, malice: Malice) -> None:
        self.malice, self.log = malice, Log()

    def choose(self, prompt: str) -> tuple[str, random.Random]:
        """The same fault for the same prompt when it is asked for the nth time, whatever else is asked."""
        n_before = len(self.log.by_prompt.get(prompt, ()))
        drawn = hashlib.sha256(f"{self.malice.seed} {n_before} {prompt}".encode("utf-8", "replace")).digest()
        rng = random.Random(drawn)
        if rng.random() >= self.malice.rate:
            return GOOD, rng
        faults = self.malice.faults
        return rng.choices(faults, [FAULTS[name].weight for name in faults])[0], rng

    async def answer(self, head: dict[str, str], path: str, body: bytes, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection goes on."""
        content = json.loads(body) if body.startswith(b"{") else {}
        prompt = content.get("prompt") or (content.get("messages") or [{"content": path}])[-1]["content"]
        name, rng = self.choose(prompt)
        secrets = tuple(head[header].removeprefix("Bearer ") for header in SECRET_HEADERS if header in head)
        asked = Asked(secrets, "prompt" in content, rng, head.get("host", ""))
        sent = good(asked) if name == GOOD else FAULTS[name].make(asked)
        log = self.log
        log.n_requests += 1
        log.by_fault[name] += 1
        log.by_prompt.setdefault(prompt, []).append(name)
        goes_on = await _send(sent, writer)
        log.n_answers += name == GOOD or FAULTS[name].outcome == "answer"
        return goes_on

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, TimeoutError):
            goes_on = True
            while goes_on:
                first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip().split("\r\n")
                pairs = (line.partition(":") for line in lines)
                head = {name.strip().lower(): value.strip() for name, _, value in pairs}
                body = await reader.readexactly(int(head.get("content-length", 0)))
                goes_on = await self.answer(head, first.split()[1], body, writer)
        writer.close()


async def _send(sent: Sent, writer: asyncio.StreamWriter) -> bool:
    """Whether the connection goes on. Where it does not, the client is told, so that it sends nothing in vain."""
    headers = {"content-type": "application/json", "content-length": str(len(sent.body)), **sent.headers}
    if sent.manner == "hang":
        await asyncio.sleep(3600)
    if sent.manner != "whole":
        headers["connection"] = "close"
    if sent.manner == "endless":
        del headers["content-length"]
    lines = [f"HTTP/1.1 {sent.status} {REASONS[sent.status]}", *(f"{name}: {value}" for name, value in headers.items())]
    writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
    if sent.manner == "drip":
        for i in range(len(sent.body)):
            writer.write(sent.body[i : i + 1])
            await writer.drain()
            await asyncio.sleep(0.5)
    while sent.manner == "endless":
        writer.write(b" " * 1_000_000)
        await asyncio.wait_for(writer.drain(), 30)
    writer.write(sent.body[: len(sent.body) // 2] if sent.manner == "cut" else sent.body)
    await writer.drain()
    return sent.manner == "whole" and len(headers.get("x-padding", "")) == 0


def _serve(malice: Malice, pipe: Any) -> None:
    async def main() -> None:
        server = _Server(malice)
        listening = await asyncio.start_server(server.connected, "127.0.0.1", 0, backlog=1024, limit=1 << 20)
        pipe.send(listening.sockets[0].getsockname()[1])

        def heard() -> None:
            try:
                order = pipe.recv()
            except EOFError:  # The parent is gone: asyncio would report this for ever.
                os._exit(0)
            pipe.send(server.log if order == "log" else server.become(order))

        asyncio.get_running_loop().add_reader(pipe.fileno(), heard)
        await listening.serve_forever()

    with contextlib.suppress(EOFError, KeyboardInterrupt):
        asyncio.run(main())
