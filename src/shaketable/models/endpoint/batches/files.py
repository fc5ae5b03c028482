"""A file of replies as it is downloaded → its lines on disk, without secrets, as far as it is not too much."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from shaketable.models.endpoint.failures import EndpointError
from shaketable.models.endpoint.unpacking import MOST_BYTES, Unpacker
from shaketable.models.endpoint.words import Hide

MOST_FILE_BYTES = 20_000_000_000
SLOWEST = 10_000
"""Bytes a second of a file that comes or goes; what is slower for long has hung."""


def seconds_for(n_bytes: int, patience: float) -> float:
    """How long a file may take."""
    return patience + n_bytes / SLOWEST


async def write_lines(response: Any, target: Path, n_requests: int, patience: float, hide: Hide) -> None:
    """Raises EndpointError where it is too much, or too slow. A line that is longer than any reply is left out."""
    unpacker = Unpacker(response.headers, min(MOST_BYTES * n_requests, MOST_FILE_BYTES))
    started = time.monotonic()
    lines = _Lines()
    with target.open("wb") as file:
        async for unpacked in _unpacked(response, unpacker):
            for line in lines.cut(unpacked):
                file.write(_hidden(line, hide))
            if time.monotonic() - started > seconds_for(unpacker.n_bytes, patience):
                message = f"{unpacker.n_bytes:,} bytes in {time.monotonic() - started:.0f} seconds, and no end"
                raise EndpointError("timeout", message, may_retry=True)
        file.write(_hidden(lines.rest(), hide))


async def _unpacked(response: Any, unpacker: Unpacker) -> AsyncIterator[bytes]:
    async for piece in response.aiter_raw():
        for unpacked in unpacker.unpack(piece):
            yield unpacked
    yield unpacker.end()


class _Lines:
    """Pieces → whole lines, those left out that are too long."""

    def __init__(self) -> None:
        self._begun, self._is_long = bytearray(), False

    def cut(self, piece: bytes) -> Iterator[bytes]:
        *ended, begun = piece.split(b"\n")
        for end in ended:
            self._add(end)
            yield self.rest() + b"\n"
        self._add(begun)

    def rest(self) -> bytes:
        line = b"" if self._is_long else bytes(self._begun)
        self._begun, self._is_long = bytearray(), False
        return line

    def _add(self, piece: bytes) -> None:
        self._is_long = self._is_long or len(self._begun) + len(piece) > MOST_BYTES
        if self._is_long:
            self._begun.clear()
        else:
            self._begun += piece


def _hidden(line: bytes, hide: Hide) -> bytes:
    return hide(line.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
