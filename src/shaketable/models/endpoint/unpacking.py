"""Bytes as they come from a server → its reply, unpacked, as far as it is not too much."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping

from shaketable.models.endpoint.failures import EndpointError

MOST_BYTES = 32_000_000
"""Of one reply, unpacked. Four thousand tokens with twenty alternatives each are about a fifth of it."""
AT_A_TIME = 1 << 18
"""Bytes that are unpacked before they are counted: a few packed ones may stand for gigabytes."""
ACCEPTED = "gzip"
"""What servers are told that they may pack with."""
PACKINGS = ("gzip", "x-gzip", "deflate")


class Unpacker:
    """Counts what comes, and unpacks it where it was packed."""

    def __init__(self, headers: Mapping[str, str], most_bytes: int = MOST_BYTES) -> None:
        """Raises EndpointError where it is packed in a way that nobody asked for."""
        self.n_bytes, self._most_bytes = 0, most_bytes
        given = [name.strip().lower() for name in headers.get("content-encoding", "").split(",")]
        packings = [name for name in given if name not in ("", "identity")]
        if len(packings) > 1 or not set(packings) <= set(PACKINGS):
            raise _bad(f"the reply is packed with {', '.join(packings)[:60]}; expected {ACCEPTED}, or nothing")
        self._zlib = zlib.decompressobj(zlib.MAX_WBITS | 32) if packings else None

    def unpack(self, piece: bytes) -> Iterator[bytes]:
        """Raises EndpointError where it is too much, or cannot be unpacked."""
        if self._zlib is None:
            yield self._counted(piece)
            return
        try:
            while piece and not self._zlib.eof:
                yield self._counted(self._zlib.decompress(piece, AT_A_TIME))
                piece = self._zlib.unconsumed_tail
        except zlib.error as error:
            raise _bad(f"the reply cannot be unpacked ({error})") from error

    def end(self) -> bytes:
        """What is left; raises EndpointError where more should have come."""
        if self._zlib is None:
            return b""
        rest = self._counted(self._zlib.flush())
        if not self._zlib.eof:
            raise _bad("the reply breaks off: it was packed, and its end is missing")
        return rest

    def _counted(self, unpacked: bytes) -> bytes:
        self.n_bytes += len(unpacked)
        if self.n_bytes > self._most_bytes:
            raise _bad(f"the reply has more than {self._most_bytes / 1e6:,.0f} MB, and was not read further")
        return unpacked


def _bad(message: str) -> EndpointError:
    return EndpointError("bad_reply", message, may_retry=True, blame="broken")
