"""Gzipped or plain bytes → plain bytes, with a limit: a small file can unpack to more than any memory holds."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

from shaketable.errors import DataError

MOST_BYTES = 4_000_000_000
"""Of a file that is read into the memory as a whole."""
ANY_BYTES = 256_000_000
"""To so many any file may unpack."""
MOST_TIMES = 200
"""Beyond that, to so many times its size: texts that repeat pack to a twentieth, bombs to a thousandth and less."""
BLOCK = 1 << 20
LONGEST_CELL = 16_000_000
"""Characters of a cell in a CSV; a quote that is not closed takes in what follows."""


def refuse_pipe(file: Path) -> None:
    """A pipe would be waited for, and some devices never end."""
    if file.exists() and not file.is_file() and not file.is_dir():
        raise DataError(f"{file} is a pipe or a device, and would be waited for. Write what it gives into a file.")


def most_unpacked(n_packed: int) -> int:
    """Return the number of bytes that a file of `n_packed` bytes may unpack to."""
    return min(MOST_BYTES, max(ANY_BYTES, MOST_TIMES * n_packed))


def refuse_bomb(name: str, n_packed: int, n_unpacked: int) -> None:
    """Raise DataError where a file unpacks to more than it may, and where its first so many bytes already do."""
    if n_unpacked > (most := most_unpacked(n_packed)):
        raise DataError(
            f"{name} unpacks to more than {most / 1e9:g} GB, from {n_packed:,} bytes. It was not read. Unpack it "
            "yourself if you trust it, and give its parts."
        )


def unpack(content: bytes, name: str) -> bytes:
    """What is not gzipped stays as it is. A broken file raises what the gzip module does."""
    if not content.startswith(b"\x1f\x8b"):  # Two bytes that open every gzip file.
        return content
    unpacked = io.BytesIO()
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as source:
        while block := source.read(BLOCK):
            refuse_bomb(name, len(content), unpacked.tell() + len(block))
            unpacked.write(block)
    return unpacked.getvalue()
