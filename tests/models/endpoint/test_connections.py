"""Connections hand on no more than one reply, and know when they hold more."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable, Coroutine
from typing import Any

import httpcore
import pytest

from shaketable.models.endpoint.connections import MOST_PIECES, Connection, Connections

REPLY = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nParis"


def connected(work: Callable[[Connection, socket.socket], Coroutine[Any, Any, None]]) -> None:
    """Run work with a connection and the server's end of it."""

    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            connection = await Connections(httpcore).connect_tcp("127.0.0.1", listening.getsockname()[1], timeout=5)
            with listening.accept()[0] as server:
                await work(connection, server)
            await connection.aclose()

    asyncio.run(main())


async def read_all(connection: Connection, least: int) -> bytes:
    read = bytearray()
    while len(read) < least:
        read += await connection.read(65_536, timeout=5)
    return bytes(read)


def test_a_second_reply_stays_in_the_connection() -> None:
    async def work(connection: Connection, server: socket.socket) -> None:
        await connection.write(b"GET / HTTP/1.1\r\n\r\n")
        server.sendall(REPLY + REPLY)
        assert await connection.read(65_536) == REPLY
        assert connection.get_extra_info("is_readable")

    connected(work)


def test_a_reply_that_comes_later_is_seen() -> None:
    async def work(connection: Connection, server: socket.socket) -> None:
        await connection.write(b"GET / HTTP/1.1\r\n\r\n")
        server.sendall(REPLY)
        assert await read_all(connection, len(REPLY)) == REPLY
        assert not connection.get_extra_info("is_readable")
        server.sendall(REPLY)
        assert connection.get_extra_info("is_readable")  # The event loop has not read it yet.
        with pytest.raises(httpcore.WriteError):
            await connection.write(b"GET / HTTP/1.1\r\n\r\n")
        assert await connection.read(65_536) == b""

    connected(work)


def test_a_text_about_http_is_whole() -> None:
    async def work(connection: Connection, server: socket.socket) -> None:
        text = b"HTTP/1.1 and HTTP/2 are versions; HTTP" * 100
        server.sendall(text)
        assert await read_all(connection, len(text)) == text
        assert not connection.get_extra_info("is_readable")

    connected(work)


def test_a_reply_in_a_thousand_pieces_ends_its_connection() -> None:
    async def work(connection: Connection, server: socket.socket) -> None:
        text = b"HTTP/" * 2 * MOST_PIECES
        server.sendall(text)
        assert await read_all(connection, len(text)) == text
        assert connection.get_extra_info("is_readable")

    connected(work)


def test_a_reply_that_breaks_off_is_an_error() -> None:
    async def work(connection: Connection, server: socket.socket) -> None:
        server.sendall(REPLY[:10])
        assert await read_all(connection, 10) == REPLY[:10]
        server.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        server.close()
        with pytest.raises(httpcore.ReadError):
            await connection.read(65_536, timeout=5)

    connected(work)


def test_plain_bytes_before_encryption_are_refused() -> None:
    async def work(connection: Connection, server: socket.socket) -> None:
        server.sendall(REPLY + REPLY)
        assert await connection.read(65_536) == REPLY
        with pytest.raises(httpcore.ConnectError):
            await connection.start_tls(ssl.create_default_context(), "localhost", timeout=5)

    connected(work)


def test_a_silent_server_times_out() -> None:
    async def work(connection: Connection, server: socket.socket) -> None:
        with pytest.raises(httpcore.ReadTimeout):
            await connection.read(65_536, timeout=0.01)

    connected(work)


def test_nobody_listening_is_a_connect_error() -> None:
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        connecting = Connections(httpcore).connect_tcp("127.0.0.1", unheard.getsockname()[1], timeout=5)
        with pytest.raises(httpcore.ConnectError):
            asyncio.run(connecting)
