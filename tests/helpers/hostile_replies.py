"""What a hostile endpoint answers with: each kind of fault as one function from a request to a reply."""

from __future__ import annotations

import base64
import copy
import functools
import gzip
import html
import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from urllib.parse import quote

Outcome = Literal["answer", "failure", "again", "busy", "either"]
"""What must come of it: an answer; a failure of its trial; another attempt, which counts, or does not; or a failure by
its size, and another attempt where the time limit comes first."""
Manner = Literal["whole", "hang", "cut", "drip", "endless"]

SECRET_HEADERS = ("authorization", "x-api-key")
ANSWER = "Paris."


@dataclass(frozen=True)
class Asked:
    """A request as the faults see it."""

    secrets: tuple[str, ...]
    """What its headers carried."""
    is_plain: bool
    rng: random.Random
    host: str


@dataclass(frozen=True)
class Sent:
    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    manner: Manner = "whole"


@dataclass(frozen=True)
class Fault:
    outcome: Outcome
    make: Callable[[Asked], Sent]
    weight: float = 1.0
    """How often it is drawn, beside others."""


@dataclass(frozen=True)
class Raw:
    """JSON, or what is none, as it is written."""

    text: str


def spell(value: Any) -> bytes:
    def raw(one: object) -> str:
        assert isinstance(one, Raw)
        return f"@@{one.text}@@"

    return re.sub(r'"@@(.*?)@@"', lambda mark: json.loads(f'"{mark[1]}"'), json.dumps(value, default=raw)).encode()


# --- good replies ---------------------------------------------------------------------------------


def reply(asked: Asked, text: Any = ANSWER, **more: Any) -> dict[str, Any]:
    tokens = [" Par", "is", "."]
    if asked.is_plain:
        tops = [{token: -0.1, "x": -3.0} for token in tokens]
        logprobs: Any = {"tokens": tokens, "token_logprobs": [-0.1] * 3, "top_logprobs": tops}
        choice = {"index": 0, "finish_reason": "stop", "text": text, "logprobs": logprobs}
    else:
        top = [{"token": "x", "logprob": -3.0, "bytes": [120]}, {"token": "y", "logprob": -4.0}]
        logprobs = {"content": [{"token": token, "logprob": -0.1, "top_logprobs": top} for token in tokens]}
        message = {"role": "assistant", "content": text, "refusal": None, "reasoning_content": None}
        choice = {"index": 0, "finish_reason": "stop", "message": message, "logprobs": logprobs}
    usage = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}
    usage_details = {**usage, "completion_tokens_details": {"reasoning_tokens": 0}}
    made = {"id": "x", "model": "hostile-1", "system_fingerprint": "fp", "choices": [choice], "usage": usage_details}
    return {**made, **more}


def good(asked: Asked) -> Sent:
    return Sent(spell(reply(asked)))


# --- one field with something else in it ------------------------------------------------------------

NUMBERS = {
    "nan": Raw("NaN"),
    "infinity": Raw("Infinity"),
    "minus_infinity": Raw("-Infinity"),
    "1e999": Raw("1e999"),
    "thirty_digits": Raw("9" * 30),
    "five_hundred_digits": Raw("-" + "9" * 500),
    "negative": -7,
    "huge": 10**14,
    "fraction": 3.5,
    "text": "12",
}
OTHERS = {
    **{name: NUMBERS[name] for name in ("nan", "1e999", "thirty_digits", "negative")},
    "null": None,
    "true": True,
    "list": [],
    "lists": [[[]]],
    "mapping": {},
    "half": Raw('"\\ud800"'),
    "nul": Raw('"\\u0000"'),
    "markup": "[/bold] <script>alert(1)</script> \x1b[2J",
}
OPTIONAL = (
    *("model", "system_fingerprint", "id", "usage", "usage.prompt_tokens", "usage.completion_tokens"),
    *("usage.total_tokens", "usage.completion_tokens_details", "usage.completion_tokens_details.reasoning_tokens"),
    *("choices.0.finish_reason", "choices.0.logprobs", "choices.0.index", "choices.0.stop_reason"),
)
IN_LOGPROBS = ("content", "content.0", "content.0.token", "content.1.logprob", "content.0.top_logprobs")
IN_TOPS = ("content.0.top_logprobs.0", "content.0.top_logprobs.0.token", "content.2.top_logprobs.1.logprob")
IN_MESSAGE = ("choices.0.message.refusal", "choices.0.message.reasoning_content", "choices.0.message.tool_calls")
NEEDED = ("choices", "choices.0", "choices.0.message")


def put(value: Any, path: str, other: Any) -> Any:
    """The same with something else at a path."""
    changed = copy.deepcopy(value)
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    inner = functools.reduce(lambda one, step: one[step], way, changed)
    inner[last] = other
    return changed


def drawn_type(asked: Asked, paths: tuple[str, ...], values: dict[str, Any]) -> Sent:
    path, value = asked.rng.choice(paths), asked.rng.choice(list(values.values()))
    if asked.is_plain:
        path = "usage" if "logprobs" in path or "message" in path else path
    return Sent(spell(put(reply(asked), path, value)))


def optional_types(asked: Asked) -> Sent:
    return drawn_type(asked, (*OPTIONAL, *IN_MESSAGE), OTHERS)


def logprob_types(asked: Asked) -> Sent:
    return drawn_type(asked, tuple(f"choices.0.logprobs.{path}" for path in (*IN_LOGPROBS, *IN_TOPS)), OTHERS)


def logprob_numbers(asked: Asked) -> Sent:
    paths = ("choices.0.logprobs.content.1.logprob", "choices.0.logprobs.content.2.top_logprobs.1.logprob")
    return drawn_type(asked, paths, NUMBERS)


def token_counts(asked: Asked) -> Sent:
    return drawn_type(asked, tuple(path for path in OPTIONAL if "_tokens" in path), NUMBERS)


def needed_types(asked: Asked) -> Sent:
    return drawn_type(asked, NEEDED, {name: value for name, value in OTHERS.items() if name != "lists"})


# --- secrets ----------------------------------------------------------------------------------------


def echoed(asked: Asked) -> Sent:
    """In every text of a good reply, in pieces, and spelled so that nobody sees it in the bytes."""
    key = " ".join(asked.secrets)
    hidden = "".join(f"\\u{ord(c):04x}" for c in key)
    made = reply(asked, f"{ANSWER} {key}", model=key, system_fingerprint=Raw(f'"{hidden}"'), id=key, more={key: key})
    made["usage"][key] = key
    if not asked.is_plain:
        message, logprobs = made["choices"][0]["message"], made["choices"][0]["logprobs"]
        message["reasoning_content"] = f"The key is {key}."
        logprobs["content"][0]["token"] = key
        logprobs["content"][1]["top_logprobs"][0]["token"] = key
    return Sent(spell(made), headers={"x-request-id": key, "set-cookie": f"key={key}"})


def echoed_spelled(asked: Asked) -> Sent:
    """As other programs spell it."""
    key = " ".join(asked.secrets)
    spelled = (key.upper(), quote(key), html.escape(key), base64.b64encode(key.encode()).decode(), repr(key))
    return Sent(spell(reply(asked, f"{ANSWER} {' '.join(spelled)}", model=key.upper(), system_fingerprint=spelled[3])))


def echoed_in_pieces(asked: Asked) -> Sent:
    key = asked.secrets[0] if asked.secrets else "none at all"
    half = len(key) // 2
    made = reply(asked, [{"type": "text", "text": key[:half]}, {"type": "text", "text": key[half:]}])
    if asked.is_plain:
        return Sent(spell(reply(asked, key)))
    listed = [{"token": key[i : i + 3], "logprob": -0.5, "top_logprobs": []} for i in range(0, len(key), 3)]
    made["choices"][0]["logprobs"] = {"content": listed}
    return Sent(spell(made))


def echoed_in_error(asked: Asked) -> Sent:
    """Also where the words are cut off."""
    key = " ".join(asked.secrets)
    place = asked.rng.choice([0, 225, 230, 235, 480])
    message = "x" * place + f" {key}"
    return Sent(spell({"error": {"message": message, "param": [key], "code": {"key": key}, "type": key}}), 400)


def redirected(asked: Asked) -> Sent:
    """To another host, whose name holds the key."""
    key = "".join(c for c in "".join(asked.secrets).lower() if c.isalnum() or c == "-")[-40:]
    address = f"http://{key or 'x'}.elsewhere.example:8{asked.rng.randrange(100):03}/v1/chat/completions?k={key}"
    return Sent(b"", 307, {"location": address})


# --- size -------------------------------------------------------------------------------------------


@functools.cache
def _long_text() -> bytes:
    return b"Paris " * (10_000_000 // 6)


@functools.cache
def gzip_bomb() -> bytes:
    return gzip.compress(b" " * 60_000_000 + b"{}", 1)


@functools.cache
def zstd_bomb() -> bytes:
    """A frame of 5,000 blocks that say `131,072 times a space`, of four bytes each."""
    size = 131_072
    blocks = [(size << 3 | 1 << 1 | int(i == 4999)).to_bytes(3, "little") + b" " for i in range(5000)]
    return bytes.fromhex("28b52ffd0038") + b"".join(blocks)


def long_answer(asked: Asked) -> Sent:
    before, after = spell(reply(asked, "HERE")).split(b"HERE")
    return Sent(before + _long_text() + after)


def long_padding(asked: Asked) -> Sent:
    before, after = spell(reply(asked, padding="HERE")).split(b"HERE")
    return Sent(before + _long_text() + after)


def deep(asked: Asked) -> Sent:
    n = asked.rng.choice([200_000, 900, 2_000])
    before, after = spell(reply(asked, Raw("[[]]"))).split(b"[[]]")
    return Sent(before + b"[" * n + b"]" * n + after)


def deep_error(asked: Asked) -> Sent:
    return Sent(b'{"error": {"message": ' + b"[" * 900 + b"]" * 900 + b"}}", 400)


# --- all of them --------------------------------------------------------------------------------------


def _sends(*, error: str | None = None, **sent: Any) -> Callable[[Asked], Sent]:
    """The same to everyone: a body as bytes, an error in words, or what belongs to a good reply."""

    def make(asked: Asked) -> Sent:
        body = sent.get("body", spell(reply(asked)) if error is None else spell({"error": {"message": error}}))
        return Sent(**{**sent, "body": body})

    return make


def _says(text: Any, **more: Any) -> Callable[[Asked], Sent]:
    return lambda asked: Sent(spell(reply(asked, text, **more)))


FAR_DATE = "Wed, 18 Nov 99999999999 10:00:00 GMT"
CHARSETS = ("zlib_codec", "bz2_codec", "hex_codec", "base64_codec", "rot13", "undefined", "idna", "utf-7", "\xff")


def odd_charset(asked: Asked) -> dict[str, str]:
    """The names of codecs of Python that are none of text, and others."""
    return {"content-type": f"application/json; charset={asked.rng.choice(CHARSETS)}"}


FAULTS: dict[str, Fault] = {
    "429": Fault("busy", _sends(error="slow down", status=429)),
    "429_retry_after": Fault("busy", _sends(error="slow down", status=429, headers={"retry-after": "0.05"})),
    "429_odd_retry_after": Fault("busy", _sends(error="slow down", status=429, headers={"retry-after": "nan"})),
    "429_far_retry_after": Fault("busy", _sends(error="slow down", status=429, headers={"retry-after": FAR_DATE})),
    "429_far_seconds": Fault("busy", _sends(error="slow down", status=429, headers={"retry-after": "40000"})),
    "500_far_retry_after": Fault("again", _sends(error="broken", status=500, headers={"retry-after": FAR_DATE})),
    "503": Fault("busy", _sends(error="busy", status=503)),
    "500": Fault("again", _sends(error="broken", status=500)),
    "500_without_words": Fault("again", _sends(body=b"", status=500)),
    "hang": Fault("again", _sends(manner="hang"), 0.2),
    "drip": Fault("again", _sends(manner="drip"), 0.2),
    "closed_midway": Fault("again", _sends(manner="cut")),
    "large_headers": Fault("again", _sends(headers={"x-padding": "x" * 300_000})),
    "malformed": Fault("failure", _sends(body=b'{"choices": [}')),
    "truncated": Fault("failure", lambda asked: Sent(spell(reply(asked))[:-20])),
    "empty": Fault("failure", _sends(body=b"")),
    "page": Fault("failure", _sends(body=b"<html>Sign in</html>", headers={"content-type": "text/html"})),
    "not_utf8": Fault("failure", _sends(body=b'{"choices": "\xff\xfe"}')),
    "other_content_type": Fault("answer", _sends(headers={"content-type": "text/plain; charset=utf-7"})),
    "odd_charset": Fault("answer", lambda asked: replace(good(asked), headers=odd_charset(asked))),
    "odd_charset_of_error": Fault(
        "failure", lambda asked: Sent(b'{"error": {"message": "no"}}', 400, headers=odd_charset(asked))
    ),
    "no_choices": Fault("failure", lambda asked: Sent(spell(reply(asked, choices=[])))),
    "null_content": Fault("failure", _says(None)),
    "wrong_content": Fault("failure", lambda asked: Sent(spell(reply(asked, asked.rng.choice([7, True, {}, [[]]]))))),
    "wrong_needed_types": Fault("failure", needed_types),
    "wrong_optional_types": Fault("answer", optional_types, 3.0),
    "wrong_logprob_types": Fault("answer", logprob_types, 2.0),
    "infinite_logprobs": Fault("answer", logprob_numbers, 2.0),
    "wrong_token_counts": Fault("answer", token_counts, 2.0),
    "half_characters": Fault("answer", _says(Raw('"Paris \\ud800."'), model=Raw('"\\udfff"'))),
    "nul": Fault("answer", _says(Raw('"Paris \\u0000."'), model=Raw('"\\u0000"'))),
    "markup": Fault("answer", _says("Paris. [/bold]<script>alert(1)</script>\x1b[2J\r")),
    "odd_error": Fault("failure", _sends(error="[/bold]\x1b[2J\ud800\x00 <script>alert(1)</script>", status=400)),
    "deep": Fault("failure", deep),
    "deep_error": Fault("failure", deep_error),
    "long_error": Fault("failure", _sends(error="tokens " * 300_000, status=400), 0.2),
    "long_answer": Fault("failure", long_answer, 0.2),
    "long_padding": Fault("answer", long_padding, 0.2),
    "endless": Fault("either", _sends(manner="endless"), 0.1),
    "gzip_bomb": Fault("failure", lambda asked: Sent(gzip_bomb(), headers={"content-encoding": "gzip"}), 0.2),
    "zstd_bomb": Fault("failure", lambda asked: Sent(zstd_bomb(), headers={"content-encoding": "zstd"})),
    "bomb_in_bomb": Fault(
        "failure", lambda asked: Sent(gzip.compress(gzip_bomb(), 1), headers={"content-encoding": "gzip, gzip"}), 0.2
    ),
    "no_gzip": Fault("failure", _sends(headers={"content-encoding": "gzip"})),
    "gzip": Fault("answer", lambda asked: Sent(gzip.compress(good(asked).body), headers={"content-encoding": "gzip"})),
    "redirected": Fault("failure", redirected),
    "cookies": Fault(
        "answer", lambda asked: Sent(good(asked).body, headers={"set-cookie": f"c{asked.rng.random()}=1"})
    ),
    "echoed": Fault("answer", echoed, 2.0),
    "echoed_spelled": Fault("answer", echoed_spelled),
    "echoed_in_pieces": Fault("answer", echoed_in_pieces),
    "echoed_in_error": Fault("failure", echoed_in_error, 2.0),
}
SLOW = ("hang", "drip")
"""Those that end by the client's time limit alone."""
