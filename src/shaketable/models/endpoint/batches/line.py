"""Where a run hands in prompts and takes replies that come by batch."""

from __future__ import annotations

import itertools
import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shaketable.errors import ModelError
from shaketable.models.endpoint.access import Access
from shaketable.models.endpoint.batches.ledger import Ledger, Sent
from shaketable.models.endpoint.batches.replies import Place, content_of, find_replies, read_entry
from shaketable.models.endpoint.batches.requests import Request, format_line, make_id, path_of
from shaketable.models.endpoint.batches.sending import Sending, TooManyTokens
from shaketable.models.endpoint.batches.server import Server
from shaketable.models.endpoint.batches.settings import BatchSettings
from shaketable.models.endpoint.batches.waiting import wait_for_one
from shaketable.models.endpoint.client import make_client
from shaketable.models.endpoint.event_loop import EventLoop
from shaketable.models.endpoint.failures import EndpointError
from shaketable.types import Completion, Failure, Json, Prompt

if TYPE_CHECKING:
    from openai.types import Batch

AT_ONCE = 100_000
"""Trials in flight: two full files of OpenAI's. Their prompts are held in memory."""
AT_A_TIME = 1024
"""Replies that are read into memory and handed over together."""
NOTE = "batch"
"""Of a completion that came by batch."""

Reply = Completion | Failure
Read = Callable[[Prompt, Mapping[str, Json], Any, float], Completion]
"""A reply's content → a completion, as of a call; raises EndpointError."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Underway:
    """A batch at the endpoint, and who waits for it."""

    sent: Sent
    waiting: dict[str, Request] = field(default_factory=dict)


class BatchLine:
    n_at_once = AT_ONCE

    def __init__(
        self,
        sending: Sending,
        ledger: Ledger,
        read: Read,
        fail: Callable[[EndpointError], Failure],
        deadline: float | None,
    ) -> None:
        self.sending, self.ledger, self.read, self.fail, self.deadline = sending, ledger, read, fail, deadline
        self.settings, self._hide = sending.settings, sending.server.access.hide_in_reply
        self.pending: list[Request] = []
        self.later: list[Request] = []
        """What the endpoint takes when it has finished something else."""
        self.ready: deque[tuple[Request, Place | Failure]] = deque()
        self.in_flight: set[str] = set()
        self.kept: dict[str, Place] = {}
        """Replies of earlier goes, by id."""
        self.underway: dict[str, Underway] = {}
        """By token."""
        self.sent_before: dict[str, str] = {}
        """Id of a request of an earlier go that has no reply yet → token of its batch."""
        for sent in sending.recover():
            if sent.is_here:
                if ledger.replies(sent).is_file():  # Those that are stored as records were let go.
                    self.kept |= find_replies(ledger.replies(sent), _share(sent), self._hide)
            else:
                self.underway[sent.token] = Underway(sent)
                self.sent_before |= dict.fromkeys(ledger.ids(sent), sent.token)

    def submit(self, ticket: int, prompt: Prompt) -> None:
        try:
            digest = make_id(prompt, self.settings)
        except ValueError as error:
            message = f"the prompt cannot be sent as JSON ({error})"
            failure = self.fail(EndpointError("bad_request", message, may_retry=False))
            self.ready.append((Request(ticket, prompt, ""), failure))
            return
        # Two that ask the very same thing at once are two requests.
        names = itertools.chain([digest], (f"{digest}-{number}" for number in itertools.count(2)))
        request = Request(ticket, prompt, next(name for name in names if name not in self.in_flight))
        self.in_flight.add(request.id)
        place = self.kept.get(request.id)
        if place is not None and not self._is_worth_asking_again(request, place):
            self.ready.append((request, place))
        elif (token := self.sent_before.pop(request.id, None)) is not None:
            self.underway[token].waiting[request.id] = request
        else:
            self.pending.append(request)

    def collect(self) -> list[tuple[int, Reply]]:
        while not self.ready:
            self._send()
            waited_for = [batch.sent for batch in self.underway.values() if batch.waiting]
            if not waited_for:
                return []
            server, seconds = self.sending.server, self.settings.batch_poll_seconds
            for sent, batch in wait_for_one(waited_for, server, seconds, self.deadline):
                self._end(self.underway.pop(sent.token), batch)
        return list(self._take())

    def let_go(self) -> None:
        """All that was asked is stored."""
        self.ledger.let_go()

    # --- sending --------------------------------------------------------------------------------

    def _send(self) -> None:
        """All that waits, in as few files as the limits allow."""
        pending, self.pending = self.pending, []
        by_path: dict[str, list[Request]] = {}
        for request in pending:
            path = path_of(request.prompt, self.settings, self.sending.server.access.host)
            by_path.setdefault(path, []).append(request)
        for path, requests in by_path.items():
            for own, lines in self._files(requests, path):
                sent = self.sending.send(path, lines)
                self.underway[sent.token] = Underway(sent, {request.id: request for request in own})
                for request in own:
                    request.n_sent += 1

    def _files(self, requests: list[Request], path: str) -> Iterator[tuple[list[Request], Iterator[bytes]]]:
        """Requests of one file with their lines. The lines are made twice, to be counted and to be written, so that
        they are never all in memory."""
        most_bytes = self.settings.batch_megabytes * 1e6
        own: list[Request] = []
        n_bytes = 0
        for request in requests:
            n = len(format_line(request, path, self.settings))
            if own and (len(own) == self.settings.batch_requests or n_bytes + n > most_bytes):
                yield own, (format_line(one, path, self.settings) for one in own)
                own, n_bytes = [], 0
            own.append(request)
            n_bytes += n
        if own:
            yield own, (format_line(one, path, self.settings) for one in own)

    # --- taking replies -------------------------------------------------------------------------

    def _end(self, ended: Underway, batch: Batch) -> None:
        """A batch is at its end: its replies are brought here, and what it did not come to is sent again."""
        try:
            sent = self.sending.collect(ended.sent, batch)
        except TooManyTokens as error:
            if not any(other.waiting for other in self.underway.values()):
                raise ModelError(str(error)) from error
            logger.info("%s It is sent again when another one has ended.", error)
            self.later += ended.waiting.values()
            # What nobody has asked for in this go is sent when it is.
            self.sent_before = {id: token for id, token in self.sent_before.items() if token != ended.sent.token}
            return
        self.pending += self.later
        self.later = []
        places = find_replies(self.ledger.replies(sent), _share(sent), self._hide)
        # What an earlier go asked, and nobody has asked for in this one yet.
        for unclaimed in [id for id, token in self.sent_before.items() if token == sent.token]:
            del self.sent_before[unclaimed]
            if unclaimed in places:
                self.kept[unclaimed] = places[unclaimed]
        for request in ended.waiting.values():
            place = places.get(request.id)
            if place is not None and not place.is_unpaid:
                self.ready.append((request, place))
            elif place is None and sent.status != "expired":
                self.ready.append((request, self.fail(_missing(sent))))
            elif request.n_sent < self.settings.attempts:
                self.pending.append(request)
            elif place is not None:
                self.ready.append((request, place))
            else:
                self.ready.append((request, self.fail(_missing(sent))))

    def _take(self) -> Iterator[tuple[int, Reply]]:
        for _ in range(min(AT_A_TIME, len(self.ready))):
            request, place = self.ready.popleft()
            self.in_flight.discard(request.id)
            yield request.ticket, self._read(request, place) if isinstance(place, Place) else place

    def _read(self, request: Request, place: Place) -> Reply:
        body = self.settings.body(request.prompt)
        with place.file.open("rb") as file:
            file.seek(place.offset)
            entry = read_entry(file.readline(), self._hide)
        assert entry is not None, "Lines that cannot be read have no place."
        try:
            completion = self.read(request.prompt, body, content_of(entry, body, self.settings), place.seconds)
        except EndpointError as error:
            return self.fail(error)
        return replace(completion, notes=(*completion.notes, NOTE))

    def _is_worth_asking_again(self, request: Request, place: Place) -> bool:
        """What an earlier go got, and stored as a failure that another attempt may mend."""
        reply = self._read(request, place)
        return isinstance(reply, Failure) and reply.may_retry


def open_line(
    settings: BatchSettings,
    access: Access,
    folder: Path,
    deadline: float | None,
    *,
    read: Read,
    fail: Callable[[EndpointError], Failure],
) -> BatchLine:
    """`folder` keeps what is under way; `deadline`, by `time.perf_counter`, is when nobody waits any longer."""
    ledger = Ledger(folder, access.endpoint)
    client = make_client(access, settings.api_version, for_files=True)
    server = Server(client=client, loop=EventLoop("shaketable-batches"), access=access, settings=settings)
    return BatchLine(Sending(server=server, ledger=ledger, settings=settings), ledger, read, fail, deadline)


def _share(sent: Sent) -> float:
    """Of the time that a batch took; 0 where the endpoint does not tell it."""
    return (sent.seconds or 0.0) / max(sent.n_requests, 1)


def _missing(sent: Sent) -> EndpointError:
    if sent.status == "cancelled":
        words = f"batch {sent.batch_id} was cancelled before it came to this request; run again to ask it anew"
        return EndpointError("cancelled", words, may_retry=True)
    if sent.status == "expired":
        return EndpointError("expired", f"batch {sent.batch_id} expired before it came to this request", may_retry=True)
    return EndpointError("bad_reply", f"batch {sent.batch_id} has no line for this request", may_retry=True)
