"""Gzipped or plain bytes → plain bytes, with a limit: a small file can unpack to more than any memory holds."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

from shaketable.errors import DataError

MOST_BYTES = 4_000_000_000
"""Of a file that is read into the memory as a whole."""
BLOCK = 1 << 20


def refuse_pipe(file: Path) -> None:
    """A pipe would be waited for, and some devices never end."""
    if file.exists() and not file.is_file() and not file.is_dir():
        raise DataError(f"{file} is a pipe or a device, and would be waited for. Write what it gives into a file.")


def unpack(content: bytes, name: str) -> bytes:
    """What is not gzipped stays as it is. A broken file raises what the gzip module does."""
    if not content.startswith(b"\x1f\x8b"):  # Two bytes that open every gzip file.
        return content
    unpacked = io.BytesIO()
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as source:
        while block := source.read(BLOCK):
            if unpacked.tell() + len(block) > MOST_BYTES:
                raise DataError(
                    f"{name} unpacks to more than {MOST_BYTES / 1e9:g} GB, from {len(content):,} bytes. It was not "
                    "read. Unpack it yourself if you trust it, and give its parts."
                )
            unpacked.write(block)
    return unpacked.getvalue()
