"""A batch as an endpoint tells of it, looked through: the SDK hands on whatever stands in a reply."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from shaketable.models.endpoint.failures import EndpointError
from shaketable.models.endpoint.fields import count_of, name_of
from shaketable.models.endpoint.words import Hide

if TYPE_CHECKING:
    from openai.types import Batch

TIMES = ("completed_at", "expired_at", "cancelled_at", "expires_at")
LONGEST_ID = 256


def checked(batch: Batch, hide: Hide) -> Batch:
    """Raises EndpointError where a field that is read has another type than the API's."""
    for name in ("id", "status"):
        checked_id(getattr(batch, name, None), name, hide)
    for name in ("output_file_id", "error_file_id"):
        if getattr(batch, name, None) is not None:
            checked_id(getattr(batch, name), name, hide)
    for name in ("created_at", *TIMES):
        value = getattr(batch, name, None)
        if not _is_time(value) and (value is not None or name == "created_at"):
            raise _bad(name)
    if not isinstance(batch.metadata or {}, dict):
        raise _bad("metadata")
    counts = batch.request_counts
    if counts is not None and not all(_is_time(one) for one in (counts.total, counts.completed, counts.failed)):
        raise _bad("request_counts")
    return batch


def checked_id(value: object, name: str, hide: Hide) -> str:
    """A name that an endpoint gave to something of ours: it is stored, and sent back in an address."""
    if not isinstance(value, str) or not value.isascii() or not value.isprintable() or "/" in value:
        raise _bad(name)
    if not 0 < len(value) <= LONGEST_ID or hide(value) != value:
        raise _bad(name)
    return value


def refusals(batch: Batch) -> list[tuple[str | None, str, int | None]]:
    """Why a batch was refused: code, words and line of each reason, as far as they can be read."""
    data = getattr(batch.errors, "data", None)
    return [
        (
            name_of(getattr(error, "code", None)),
            name_of(getattr(error, "message", None)) or "no reason is given",
            count_of(getattr(error, "line", None)),
        )
        for error in (data if isinstance(data, list) else [])
    ]


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12 and math.isfinite(value)


def _bad(name: str) -> EndpointError:
    message = f"the reply has another shape than the API's: its {name} is none"
    return EndpointError("bad_reply", message, may_retry=True)
