"""How older files wrote what is written otherwise today; each value is mended when it is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from shaketable.types import Completion, Edit

Packed = Mapping[str, Any]
NUMBER = re.compile(r"-?\d+(\.\d+)?")


def _edit(packed: Packed) -> Packed:
    """Before version 5 what replaying needs stood in the note, `ORIGIN: ID` or `SIDE: ID`."""
    word, _, sentence_id = packed.get("note", "").partition(": ")
    if "id_after" in packed or not sentence_id:
        return packed
    if packed["kind"] == "replace":
        return {**packed, "id_after": sentence_id}
    if packed["kind"] == "insert" and packed.get("rank") is None:
        return {**packed, "anchor": sentence_id, "side": word}
    return packed


def _completion(packed: Packed) -> Packed:
    return {**packed, "finish_reason": packed["finish"]} if "finish" in packed else packed


OLDER: Mapping[type, Callable[[Packed], Packed]] = {Edit: _edit, Completion: _completion}
"""Type → its fields as they are called today, of its fields as a file has them."""


def older_refusal(reason: str) -> str:
    """The kind of reason for which a wording was rejected, where only its sentence was kept: what was found in the one
    wording is left out, so that like ones are counted together."""
    return NUMBER.sub("…", reason.partition(":")[0])


def mend_event(packed: Packed) -> Packed:
    """Before version 5 the reply to a probe was its tokens alone."""
    return {**packed, "reading": {"tokens": packed["tokens"], "extras": {}}} if "tokens" in packed else packed
