"""Lines that came back → where each reply lies in its file, and what it says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from shaketable.models.endpoint.batches.settings import BatchSettings
from shaketable.models.endpoint.failures import EndpointError, code_of, is_passing, status_error
from shaketable.models.endpoint.fields import name_of
from shaketable.models.endpoint.parsing import parse_reply
from shaketable.models.endpoint.words import Hide
from shaketable.types import Json

EXPIRED, CANCELLED = "batch_expired", "batch_cancelled"
"""What OpenAI writes to requests that were not answered in time, or not before someone cancelled the batch."""
OK = 200


class Place(NamedTuple):
    """Where a reply lies."""

    file: Path
    offset: int
    seconds: float
    """Of its batch, its share."""
    is_unpaid: bool
    """Whether the endpoint did not come to it: it may be sent again."""


def find_replies(file: Path, seconds: float, hide: Hide) -> dict[str, Place]:
    """By id. Lines may be in any order; of several for one request the first that was answered counts. A line that
    cannot be read belongs to nobody."""
    places: dict[str, Place] = {}
    offset = 0
    with file.open("rb") as lines:
        for line in lines:
            entry = read_entry(line, hide)
            if entry is not None:
                earlier = places.get(entry["custom_id"])
                if earlier is None or earlier.is_unpaid:
                    places[entry["custom_id"]] = Place(file, offset, seconds, _is_unpaid(entry))
            offset += len(line)
    return places


def read_entry(line: bytes, hide: Hide) -> dict[str, Any] | None:
    """None: it has another shape than the API's."""
    try:
        entry = parse_reply(line, hide)
    except EndpointError:
        return None
    if not isinstance(entry, dict) or not isinstance(entry.get("custom_id"), str):
        return None
    for name in ("response", "error"):
        if not isinstance(entry.get(name) or {}, dict):
            return None
    return entry


def content_of(entry: Mapping[str, Any], body: Mapping[str, Json], settings: BatchSettings) -> Any:
    """The reply, as a call would have brought it; raises EndpointError where there is none."""
    response, problem = entry.get("response") or {}, entry.get("error") or {}
    status, content = response.get("status_code"), response.get("body")
    if status == OK:
        return content
    if isinstance(status, int):
        told = content.get("error", content) if isinstance(content, dict) else content
        raise status_error(status, told, body, settings)
    code, words = name_of(problem.get("code")), name_of(problem.get("message")) or "no reason is given"
    kind = {EXPIRED: "expired", CANCELLED: "cancelled"}.get(code or "", "batch")
    raise EndpointError(kind, f"{code}: {words}" if code else words, may_retry=True)


def _is_unpaid(entry: Mapping[str, Any]) -> bool:
    response, problem = entry.get("response") or {}, entry.get("error") or {}
    status, content = response.get("status_code"), response.get("body")
    if isinstance(status, int):
        return is_passing(status, code_of(content.get("error") if isinstance(content, dict) else None))
    return problem.get("code") == EXPIRED
