"""A prompt → one line of a file of requests, under an id that is the same whenever the same is asked."""

from __future__ import annotations

import json
from dataclasses import dataclass

from shaketable.identity import digest_text
from shaketable.models.endpoint.batches.settings import BatchSettings
from shaketable.types import Json, Prompt

ID_BEGINS = b'{"custom_id":"'
"""How our lines begin: their ids are read without reading the rest."""


@dataclass(slots=True)
class Request:
    """A prompt that waits for its reply."""

    ticket: int
    prompt: Prompt
    id: str
    n_sent: int = 0
    """Batches that it was put into in this go."""


def path_of(prompt: Prompt, settings: BatchSettings, host: str) -> str:
    """Which call the line stands for. Azure names it without the version."""
    version = "" if settings.api_version is not None or ".azure." in host else "/v1"
    return f"{version}/completions" if prompt.layout == "plain" else f"{version}/chat/completions"


def make_id(prompt: Prompt, settings: BatchSettings) -> str:
    """Of the request's body and of the prompt's seed: where seeds are not sent, repeats have one body, and each is a
    draw of its own. Raises ValueError where the body cannot be sent as JSON."""
    text = _text(settings.body(prompt))
    text.encode()  # Half a character cannot be sent.
    return digest_text(f"{prompt.seed}\n{text}")


def format_line(request: Request, path: str, settings: BatchSettings) -> bytes:
    line: dict[str, Json] = {
        "custom_id": request.id,
        "method": "POST",
        "url": path,
        "body": settings.body(request.prompt),
    }
    return _text(line).encode() + b"\n"


def id_of_line(line: bytes) -> str:
    """Of a line that `format_line` made."""
    begin = len(ID_BEGINS)
    return line[begin : line.index(b'"', begin)].decode()


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
