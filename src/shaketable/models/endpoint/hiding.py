"""Texts → the same without secrets, in whatever usual spelling those come."""

from __future__ import annotations

import base64
import functools
import html
import json
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote, quote_plus

from shaketable.models.endpoint.secrets import secrets_of
from shaketable.models.endpoint.words import Hide

HIDDEN = "***"
SHORTEST_SECRET = 8
"""Characters of a secret that is looked for in answers, in any case and spelling. What is as short as `none` or `EMPTY`
is no key, and an answer may be that word."""
LONGEST_VALUE = 80
"""Characters of a value that a message shows."""


def hide_secrets(text: str, secrets: Iterable[str]) -> str:
    """The longest first: one may stand in another."""
    lowered = text.lower()
    for secret in sorted(secrets, key=len, reverse=True):
        spellings, pattern = _looked_for(secret)
        if any(spelling in lowered for spelling in spellings):
            text = pattern.sub(HIDDEN, text)
    return text


def is_long(secret: str) -> bool:
    return len(secret) >= SHORTEST_SECRET


def own_hide() -> Hide:
    """Hide the secrets of the environment: libraries put them into their words."""
    secrets = {secret for name, value in list(os.environ.items()) for secret in secrets_of(name, value.strip())}
    return functools.partial(hide_secrets, secrets=tuple(filter(is_long, secrets)))


def hide_in(value: Any, hide: Hide) -> Any:
    """The same in all texts of a value."""
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, list):
        return [hide_in(one, hide) for one in value]
    return {name: hide_in(one, hide) for name, one in value.items()} if isinstance(value, dict) else value


def shorten(value: object) -> str:
    """A value as a message shows it. What is cut off must not leave half a key."""
    return own_hide()(repr(value))[:LONGEST_VALUE]


@functools.lru_cache(maxsize=256)
def _looked_for(secret: str) -> tuple[tuple[str, ...], re.Pattern[str]]:
    """Spellings in lower case, by which texts are searched fast, and what is replaced."""
    spellings = dict.fromkeys(spelling.lower() for spelling in _spellings(secret))
    longest_first = sorted(spellings, key=len, reverse=True)
    return tuple(spellings), re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE)


def _spellings(secret: str) -> Iterator[str]:
    """As it is, and as web addresses, pages, JSON (also within a text of JSON), Python and base64 spell it."""
    yield from (secret, quote(secret, errors=KEPT), quote(secret, safe="", errors=KEPT))
    yield quote_plus(secret, errors=KEPT)
    if not is_long(secret):
        return
    raw = secret.encode("utf-8", KEPT)
    yield "".join(f"%{byte:02x}" for byte in raw)
    yield raw.hex()
    escaped = html.escape(secret, quote=False)
    yield from (escaped, html.escape(secret), escaped.replace('"', "&#34;").replace("'", "&#39;"))
    for spelled in (json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]):
        yield from (spelled, spelled.replace("/", "\\/"), json.dumps(spelled)[1:-1])
    yield from _in_python(secret, raw)
    yield "".join(f"\\u{ord(character):04x}" for character in secret)
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        whole = encode(raw).decode("ascii")
        yield from (whole, whole.rstrip("="))
        for n_before in range(3):  # In `user:key` it begins within a group, and only what is its own is always there.
            begin, end = -(-8 * n_before // 6), 8 * (n_before + len(raw)) // 6
            yield encode(b"\0" * n_before + raw).decode("ascii")[begin:end]


def _in_python(secret: str, raw: bytes) -> Iterator[str]:
    """As Python writes texts and bytes, also those in which it wrote them before, as in the text of an error."""
    written = [_as_quoted(secret), ascii(f'"{secret}')[2:-1], repr(b'"' + raw)[3:-1]]
    for spelled in [*written, *map(_with_bare_marks, written)]:
        again = _as_quoted(spelled)
        yield from (spelled, again, _with_bare_marks(again), json.dumps(spelled)[1:-1])


def _as_quoted(text: str) -> str:
    """As `repr` writes it where both quotation marks are around."""
    return repr(f'"{text}')[2:-1]


def _with_bare_marks(written: str) -> str:
    """The same where only one is."""
    return written.replace("\\'", "'")


KEPT = "surrogateescape"
"""How the environment gives bytes that are no text."""
