"""Edits as version 0.1 stored them: what replaying needs stood in the note, `ORIGIN: ID` or `SIDE: ID`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def with_edit_fields(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The stored fields of an edit, with those that version 0.1 wrote into its note."""
    word, _, sentence_id = given["note"].partition(": ")
    if "id_after" in given or not sentence_id:
        return given
    if given["kind"] == "replace":
        return {**given, "id_after": sentence_id}
    if given["kind"] == "insert" and given["rank"] is None:
        return {**given, "anchor": sentence_id, "side": word}
    return given
