"""An endpoint that sends more replies than it gets requests, on connections that are kept."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterator
from typing import Any

from shaketable.models.endpoint.event_loop import EventLoop
from shaketable.models.openai import Openai
from shaketable.models.pipeline import Pipeline


class Doubling:
    """Answers `own Q` to the question Q, and after every nth reply sends one more, `extra of Q`."""

    def __init__(self, every: int = 5, length: int = 0) -> None:
        """`length`: bytes of each reply's body, which is filled up with spaces."""
        self._every, self._length = every, length
        self.n_requests = self.n_extra = self.n_connections = 0
        self._loop = EventLoop("doubling")
        self.port = self._loop.start(self._serve()).result()

    def models(self) -> dict[str, Any]:
        """Both kinds of system that ask servers."""
        url = f"http://127.0.0.1:{self.port}"
        return {
            "openai": Openai(model="doubling", base_url=f"{url}/v1", concurrency=4),
            "pipeline": Pipeline(http=f"{url}/ask", concurrency=4),
        }

    async def _serve(self) -> int:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, backlog=512)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.n_connections += 1
        with contextlib.suppress(asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                _, has_body, after = head.partition("content-length:")
                body = await reader.readexactly(int(after.split("\r\n")[0]) if has_body else 0)
                asked = json.loads(body) if body else {}
                question = asked.get("question") or (asked.get("messages") or [{"content": "?"}])[-1]["content"]
                if body:
                    self.n_requests += 1
                is_doubled = bool(body) and self.n_requests % self._every == 0
                self.n_extra += is_doubled
                replies = [self._reply(f"own {question}")] + [self._reply(f"extra of {question}")] * is_doubled
                writer.write(b"".join(replies))
                await writer.drain()

    def _reply(self, text: str) -> bytes:
        usage = {"prompt_tokens": 3, "completion_tokens": 3}
        choices = [{"finish_reason": "stop", "message": {"content": text}}]
        body = json.dumps({"answer": text, "choices": choices, "usage": usage})
        head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
        n_bytes = max(len(body), self._length)
        return f"{head}content-length: {n_bytes}\r\n\r\n{body.ljust(n_bytes)}".encode()

    def stop(self) -> None:
        self._loop.close()


@contextlib.contextmanager
def doubling(**settings: Any) -> Iterator[Doubling]:
    server = Doubling(**settings)
    try:
        yield server
    finally:
        server.stop()
