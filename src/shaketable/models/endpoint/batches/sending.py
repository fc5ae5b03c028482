"""A file of requests → a batch at the endpoint → its replies here, each step on disk before the next."""

from __future__ import annotations

import logging
import os
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shaketable.errors import ModelError
from shaketable.models.endpoint.batches.ledger import Ledger, Sent, digest_of, settle_folder
from shaketable.models.endpoint.batches.server import Server, Unreachable
from shaketable.models.endpoint.batches.settings import BatchSettings
from shaketable.models.endpoint.batches.state import refusals
from shaketable.models.endpoint.failures import LONGEST_MESSAGE
from shaketable.models.endpoint.words import plain_words
from shaketable.text.whole_file import beside

if TYPE_CHECKING:
    from openai.types import Batch

TOO_MANY_TOKENS = "token_limit_exceeded"
"""Why OpenAI and Azure refuse a batch as long as others are in its queue."""

logger = logging.getLogger(__name__)


class TooManyTokens(Exception):  # noqa: N818 (it says what is the matter)
    """The endpoint's queue is full: the batch was refused, and may be taken later."""


@dataclass(frozen=True, kw_only=True)
class Sending:
    server: Server
    ledger: Ledger
    settings: BatchSettings

    def recover(self) -> list[Sent]:
        """The batches of earlier goes. One that was being created when its process was killed is looked for twice, as
        the call may still be on its way."""
        recovered = []
        for sent in self.ledger.load():
            if sent.batch_id is None:
                found = self.server.find(sent.token, sent.made_at)
                if found is None:
                    time.sleep(self.settings.batch_poll_seconds)
                    found = self.server.find(sent.token, sent.made_at)
                if found is None:
                    self.ledger.remove(sent)
                    continue
                sent = self._created(sent, found)
            recovered.append(sent)
        if n_requests := sum(sent.n_requests for sent in recovered if sent.is_underway):
            n_batches = sum(sent.is_underway for sent in recovered)
            logger.info("going on with batches that were sent before: %d, with %d requests", n_batches, n_requests)
        return recovered

    def send(self, path: str, lines: Iterable[bytes]) -> Sent:
        sent = self.ledger.write(path, lines)
        file_id = self.server.upload(self.ledger.requests(sent), sent.token)
        sent = self.ledger.save(replace(sent, is_creating=True))
        try:
            batch = self.server.create(file_id, path, sent.token, sent.made_at)
        except Unreachable as error:
            raise ModelError(f"{error}. If the batch was created all the same, running again finds it.") from error
        except ModelError:
            self.ledger.remove(sent)
            raise
        created = self._created(sent, batch)
        logger.info("sent batch %s with %d requests to %s", created.batch_id, sent.n_requests, self.server.access.host)
        return created

    def collect(self, sent: Sent, batch: Batch) -> Sent:
        """The replies of a batch that is at its end are brought here."""
        if batch.status == "failed":
            self.ledger.remove(sent)  # Nothing of it was answered or paid.
            raise self._refusal(batch)
        replies = self.ledger.replies(sent)
        with beside(replies) as temporary:
            with temporary.open("wb") as file:
                for file_id in filter(None, (batch.output_file_id, batch.error_file_id)):
                    part = replies.with_suffix(".part")
                    self.server.download(file_id, part, sent.n_requests)
                    with part.open("rb") as content:
                        shutil.copyfileobj(content, file)
                    file.write(b"\n")  # The last line may lack its end.
                    part.unlink()
                file.flush()
                os.fsync(file.fileno())
            sha256 = digest_of(temporary)
            temporary.replace(replies)
        settle_folder(replies.parent)
        ended_at = batch.completed_at or batch.expired_at or batch.cancelled_at
        seconds = None if ended_at is None else max(float(ended_at - batch.created_at), 0.0)
        return self.ledger.save(replace(sent, status=batch.status, seconds=seconds, is_here=True, sha256=sha256))

    def _created(self, sent: Sent, batch: Batch) -> Sent:
        return self.ledger.save(replace(sent, batch_id=batch.id, status=batch.status))

    def _refusal(self, batch: Batch) -> Exception:
        errors = refusals(batch)
        places = [f"line {line}: {message}" if line else message for _, message, line in errors[:3]]
        words = plain_words(self.server.access.hide("; ".join(places)))[:LONGEST_MESSAGE] or "no reason is given"
        message = f"{self.server.access.host} refused batch {batch.id}: {words}."
        if any(code == TOO_MANY_TOKENS for code, _, _ in errors):
            hint = " If nothing else is in its queue, send less at a time: batch_requests, now"
            return TooManyTokens(f"{message}{hint} {self.settings.batch_requests}.")
        return ModelError(
            f"{message} Nothing of it was answered or paid. Mend what it says, or leave batch out, and run again."
        )
