"""Whether weights come with a chat template, read from their small files or a GGUF header, never from the weights."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import BinaryIO

KEY = "tokenizer.chat_template"
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""Bytes of each kind of number in a GGUF header; the package gguf reads whole vocabularies into objects, which takes
seconds."""
STRING, ARRAY = 8, 9


def has_chat_template(path: Path) -> bool:
    """Of a folder, or of a GGUF file and what lies beside it."""
    if path.suffix == ".gguf" and path.is_file():
        return _in_folder(path.parent) or _in_header(path)
    return _in_folder(path)


def _in_folder(folder: Path) -> bool:
    if (folder / "chat_template.jinja").is_file() or (folder / "chat_template.json").is_file():
        return True
    try:
        return bool(json.loads((folder / "tokenizer_config.json").read_text("utf-8")).get("chat_template"))
    except (OSError, ValueError, AttributeError):
        return False


def _in_header(file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            if stream.read(4) != b"GGUF":
                return False
            _, _, n_entries = struct.unpack("<IQQ", stream.read(20))
            return any(_passed(stream) == KEY for _ in range(n_entries))
    except (struct.error, KeyError):  # Cut off, or of another kind: loading says what is wrong with it.
        return False


def _passed(stream: BinaryIO) -> str:
    """The name of the next entry, whose value is passed over."""
    name = stream.read(_number(stream, "<Q")).decode("utf-8", "replace")
    kind = _number(stream, "<I")
    kind, n = (_number(stream, "<I"), _number(stream, "<Q")) if kind == ARRAY else (kind, 1)
    if kind == STRING:
        for _ in range(n):
            stream.seek(_number(stream, "<Q"), 1)
    else:
        stream.seek(SIZES[kind] * n, 1)
    return name


def _number(stream: BinaryIO, form: str) -> int:
    (number,) = struct.unpack(form, stream.read(struct.calcsize(form)))
    return int(number)
