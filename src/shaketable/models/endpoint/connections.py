"""Connections on which each reply belongs to the request before it.

HTTP/1.1 matches replies to requests by their order alone. Where a server, or a proxy in front of it, sends a second
reply to one request, a client that keeps the connection would read that reply as the answer to its next request.
httpcore drops an idle connection whose socket is readable, but not one whose surplus was read already: by TLS, by its
network library, or by the parser. Here all bytes that arrive lie in one buffer, the parser gets no more than one
reply, and a connection whose buffer is not empty when a request ends is not used again.
"""

from __future__ import annotations

import asyncio
import contextlib
import select
import ssl
import sys
from collections.abc import AsyncIterator, Iterable
from types import ModuleType
from typing import Any, cast

BEGINNING = b"HTTP/"
"""How a reply begins. The parser gets the bytes up to the next place where one could begin."""
MOST_PIECES = 1000
"""Pieces of one reply. A reply with more of them, which may repeat `HTTP/` a million times, is handed over whole, and
its connection is not used again."""
READ_AHEAD = 1 << 20
"""Bytes in the buffer; the server waits when there are more."""


def keep_replies_apart(client: Any) -> Any:
    """Give a client of httpx, or of the library that the SDK has in its place, connections of this kind."""
    for transport in (client._transport, *client._mounts.values()):
        pool: Any = getattr(transport, "_pool", None)
        if hasattr(pool, "_network_backend"):
            pool._network_backend = Connections(sys.modules[type(pool).__module__.partition(".")[0]])
        elif transport is not None:  # Without these connections, each is used once.
            client.headers["Connection"] = "close"
    return client


class Connections:
    """A network backend of httpcore."""

    def __init__(self, library: ModuleType) -> None:
        """`library`: httpcore, or its namesake, which knows its own errors only."""
        self._library = library

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[tuple[Any, ...]] | None = None,
    ) -> Connection:
        library = self._library
        async with _limited(timeout, library.ConnectTimeout, library.ConnectError):
            _, connection = await asyncio.get_running_loop().create_connection(
                lambda: Connection(library),
                host,
                port,
                local_addr=None if local_address is None else (local_address, 0),
                happy_eyeballs_delay=0.25,
            )
            for option in socket_options or ():
                connection.get_extra_info("socket").setsockopt(*option)
        return connection

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Connection(asyncio.Protocol):
    """A network stream of httpcore."""

    def __init__(self, library: ModuleType) -> None:
        self._library = library
        self._transport: asyncio.Transport
        self._buffer = bytearray()
        self._arrived, self._may_write = asyncio.Event(), asyncio.Event()
        self._may_write.set()
        self._is_over = False
        """Whether nothing more arrives."""
        self._error: Exception | None = None
        """What broke it."""
        self._was_read = False
        """Whether a reply was read since the last write."""
        self._n_pieces = 0

    # --- called by the event loop -----------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if len(self._buffer) > READ_AHEAD:
            self._transport.pause_reading()
        self._arrived.set()

    def eof_received(self) -> bool:
        self._is_over = True
        self._arrived.set()
        return True  # The request may still be on its way.

    def connection_lost(self, error: Exception | None) -> None:
        self._is_over, self._error = True, error
        self._arrived.set()
        self._may_write.set()

    def pause_writing(self) -> None:
        self._may_write.clear()

    def resume_writing(self) -> None:
        self._may_write.set()

    # --- called by httpcore -----------------------------------------------------------------------

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """The next piece; empty: nothing more comes."""
        self._was_read = True
        if not self._buffer and not self._is_over:
            self._arrived.clear()
            async with _limited(timeout, self._library.ReadTimeout, self._library.ReadError):
                await self._arrived.wait()
        if self._error is not None and not self._buffer:
            raise self._library.ReadError(str(self._error)) from self._error
        self._n_pieces += 1
        end = self._buffer.find(BEGINNING, 1) if self._n_pieces < MOST_PIECES else -1
        piece = bytes(self._buffer[: min(max_bytes, end if end > 0 else max_bytes)])
        del self._buffer[: len(piece)]
        if len(self._buffer) <= READ_AHEAD and not self._is_over:
            self._transport.resume_reading()
        return piece

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if self._was_read:  # So a request begins.
            if self._is_spent():
                await self.aclose()
            self._was_read, self._n_pieces = False, 0
        if self._is_over:
            raise self._library.WriteError("The connection is closed.")
        self._transport.write(buffer)
        if not self._may_write.is_set():
            async with _limited(timeout, self._library.WriteTimeout, self._library.WriteError):
                await self._may_write.wait()

    async def aclose(self) -> None:
        self._buffer.clear()
        self._is_over = True
        self._transport.abort()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> Connection:
        loop, library = asyncio.get_running_loop(), self._library
        try:
            if self._buffer:  # It came in plain text, and would be read as if it had not.
                raise library.ConnectError("Bytes arrived before the connection was encrypted.")
            self._was_read = False  # What was read belongs to a proxy.
            async with _limited(timeout, library.ConnectTimeout, library.ConnectError):
                transport = await loop.start_tls(self._transport, self, ssl_context, server_hostname=server_hostname)
        except BaseException:
            await self.aclose()
            raise
        assert transport is not None, "A transport comes of each handshake that succeeds."
        self._transport = transport
        return self

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":
            return self._is_spent()
        names = {"client_addr": "sockname", "server_addr": "peername"}
        return self._transport.get_extra_info(names.get(info, info))

    def _is_spent(self) -> bool:
        """Whether it must not be used again: it is closed, or holds what no request asked for."""
        if self._buffer or self._is_over or self._n_pieces >= MOST_PIECES or self._transport.is_closing():
            return True
        number = self._transport.get_extra_info("socket").fileno()
        if not hasattr(select, "poll"):
            return bool(select.select([number], [], [], 0)[0])
        poll = select.poll()
        poll.register(number, select.POLLIN)
        return bool(poll.poll(0))


@contextlib.asynccontextmanager
async def _limited(seconds: float | None, late: type[Exception], broken: type[Exception]) -> AsyncIterator[None]:
    """Errors of the event loop as those that httpcore knows."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise late(str(error)) from error
    except (OSError, UnicodeError) as error:  # A host may be one that no address can hold.
        raise broken(str(error)) from error
