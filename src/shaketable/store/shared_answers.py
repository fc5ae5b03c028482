"""Records ↔ what the cache keeps of them: one text with all that a record refers to."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

from shaketable.identity import canonical, digest, digest_text
from shaketable.store import trace
from shaketable.store.codec import decode
from shaketable.types import Cost, Json, Record, Trial

VERSION = 1
"""Raised when these texts mean something else: those of another version are not found."""


def name_answer(key: str, address: str) -> str:
    """What an answer is found by: its key, and where it was asked for, as far as the key does not tell."""
    return digest([VERSION, key, address])


def pack_answer(record: Record, environment: Mapping[str, Json], study: str) -> bytes:
    assert record.answer is not None, "Failures are not shared."
    texts: dict[str, str] = {}

    def keep(value: object) -> str:
        body = canonical(value)
        name = digest_text(body)
        texts[name] = body
        return name

    packed = {
        "answer": record.answer.text,
        "trace": trace.pack(record, keep),
        "texts": texts,
        "cost": asdict(record.cost),
        "environment": environment,
        "study": study,
        "asked": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }
    return canonical(packed).encode()


def unpack_answer(trial: Trial, body: bytes) -> Record:
    """As a record of another run: its environment says which study asked for it, and when."""
    packed = json.loads(body)

    def fetch(name: str, unpack: Callable[[Any], Any]) -> Any:
        return unpack(json.loads(packed["texts"][name]))

    environment = packed["environment"] | {"reused_from": {name: packed[name] for name in ("study", "asked")}}
    cost = decode(Cost, packed["cost"])
    own = trace.unpack(trial, packed["answer"], None, cost, environment, packed["trace"], fetch)
    return replace(own, reused=True)
