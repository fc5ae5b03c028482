"""The chat template that weights come with, read from their small files or a GGUF header, never from the weights."""

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


def chat_template(path: Path) -> str | None:
    """Of a folder, or of a GGUF file and what lies beside it; None: there is none. Several are given together."""
    if path.suffix == ".gguf" and path.is_file():
        return _in_folder(path.parent) or _in_header(path)
    return _in_folder(path)


def _in_folder(folder: Path) -> str | None:
    for file in (folder / "chat_template.jinja", folder / "chat_template.json"):
        if file.is_file():
            return file.read_text("utf-8")
    try:
        given = json.loads((folder / "tokenizer_config.json").read_text("utf-8")).get("chat_template")
    except (OSError, ValueError, AttributeError):
        return None
    if isinstance(given, list):  # One for each use.
        return "\n".join(named["template"] for named in given)
    return given or None


def _in_header(file: Path) -> str | None:
    try:
        with file.open("rb") as stream:
            if stream.read(4) != b"GGUF":
                return None
            _, _, n_entries = struct.unpack("<IQQ", stream.read(20))
            for _ in range(n_entries):
                if _text(stream) == KEY:
                    _number(stream, "<I")
                    return _text(stream)
                _pass(stream)
    except (struct.error, KeyError):  # Cut off, or of another kind: loading says what is wrong with it.
        pass
    return None


def _pass(stream: BinaryIO) -> None:
    """Over the value of an entry."""
    kind = _number(stream, "<I")
    kind, n = (_number(stream, "<I"), _number(stream, "<Q")) if kind == ARRAY else (kind, 1)
    if kind == STRING:
        for _ in range(n):
            stream.seek(_number(stream, "<Q"), 1)
    else:
        stream.seek(SIZES[kind] * n, 1)


def _text(stream: BinaryIO) -> str:
    return stream.read(_number(stream, "<Q")).decode("utf-8", "replace")


def _number(stream: BinaryIO, form: str) -> int:
    (number,) = struct.unpack(form, stream.read(struct.calcsize(form)))
    return int(number)
