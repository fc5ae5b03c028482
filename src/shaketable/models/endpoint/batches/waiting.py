"""Until a batch is at its end: looks now and then, ever more rarely, and tells how far it has come."""

from __future__ import annotations

import datetime
import logging
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from shaketable.errors import ModelError, RepliesPending
from shaketable.models.endpoint.batches.ledger import Sent
from shaketable.models.endpoint.batches.server import Server, Unreachable

if TYPE_CHECKING:
    from openai.types import Batch

ENDED = ("completed", "failed", "expired", "cancelled")
GROWTH = 1.5
LONGEST = 20
"""Times the first interval."""
MOST_FAILED = 20
"""Looks in a row at an endpoint that cannot be reached; with usual settings that is an hour and a half."""
TELL_EVERY_SECONDS = 600.0
"""Also when nothing has changed."""

logger = logging.getLogger(__name__)


def wait_for_one(
    waited_for: Sequence[Sent], server: Server, first_seconds: float, deadline: float | None
) -> list[tuple[Sent, Batch]]:
    """Those that have ended, as soon as one has. Raises RepliesPending at the deadline."""
    told: dict[str, tuple[str, float]] = {}
    n_failed = 0
    for interval in _intervals(first_seconds):
        try:
            batches = [(sent, server.retrieve(str(sent.batch_id))) for sent in waited_for]
            n_failed = 0
        except Unreachable as error:
            n_failed += 1
            if n_failed == MOST_FAILED:
                raise ModelError(f"{error}. Its batches go on; run again to take their replies.") from error
            logger.info("%s; its batches go on, and it is asked again", error)
            batches = []
        if ended := [(sent, batch) for sent, batch in batches if batch.status in ENDED]:
            return ended
        for _, batch in batches:
            _tell(batch, server.access.host, told)
        if deadline is not None and time.perf_counter() >= deadline:
            raise RepliesPending(_pending(waited_for, [batch for _, batch in batches], server.access.host))
        left = interval if deadline is None else deadline - time.perf_counter()
        time.sleep(max(min(interval, left), 0.0))
    raise AssertionError("Intervals do not end.")


def _intervals(first_seconds: float) -> Iterator[float]:
    seconds = first_seconds
    while True:
        yield seconds
        seconds = min(seconds * GROWTH, first_seconds * LONGEST)


def _tell(batch: Batch, host: str, told: dict[str, tuple[str, float]]) -> None:
    words, now = _progress(batch), time.perf_counter()
    before, at = told.get(batch.id, ("", now))
    if words != before or now - at >= TELL_EVERY_SECONDS:
        told[batch.id] = words, now
        minutes = max(time.time() - batch.created_at, 0.0) / 60
        logger.info("batch %s at %s: %s, %.0f min since it was sent", batch.id, host, words, minutes)


def _progress(batch: Batch) -> str:
    counts = batch.request_counts
    if counts is None or not counts.total:
        return batch.status
    failed = f", {counts.failed:,} failed" if counts.failed else ""
    return f"{batch.status}, {counts.completed:,} of {counts.total:,} answered{failed}"


def _pending(waited_for: Sequence[Sent], batches: Sequence[Batch], host: str) -> str:
    n_requests = sum(sent.n_requests for sent in waited_for)
    progress = "; ".join(f"{batch.id}: {_progress(batch)}" for batch in batches[:3])
    ends = [batch.expires_at for batch in batches if batch.expires_at]
    latest = ""
    if ends:
        by = datetime.datetime.fromtimestamp(max(ends)).astimezone()
        latest = f" They end by {by:%Y-%m-%d %H:%M} at the latest."
    n = "1 batch" if len(waited_for) == 1 else f"{len(waited_for)} batches"
    return f"Under way at {host}: {n} with {n_requests:,} requests ({progress or 'it does not answer'}).{latest}"
