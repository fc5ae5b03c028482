"""Batches on disk: what was sent, by which name the endpoint knows it, and what came back.

A folder for each: its requests, its state and its replies. The intent is on disk before the endpoint hears of it, so
that a process that is killed at any moment finds its batch again, and nothing is paid twice.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter, with_config

from shaketable.errors import ModelError
from shaketable.models.endpoint.batches.requests import id_of_line
from shaketable.text.whole_file import write_whole

REQUESTS, REPLIES, STATE = "requests.jsonl", "replies.jsonl", "state.json"

logger = logging.getLogger(__name__)


@with_config(ConfigDict(extra="forbid", allow_inf_nan=False))
@dataclass(frozen=True, kw_only=True, slots=True)
class Sent:
    """One file of requests, from the intent to its replies."""

    token: str
    """Names its folder here, and the batch at the endpoint by its metadata."""
    address: str
    """Of the endpoint."""
    path: str
    """The call that its lines stand for."""
    n_requests: int
    made_at: float
    """Seconds since 1970."""
    is_creating: bool = False
    """Whether the endpoint was asked to create it: it may be there though its id never came."""
    batch_id: str | None = None
    """The endpoint's name for it; None: not known."""
    status: str = ""
    """As the endpoint told it last."""
    seconds: float | None = None
    """From its creation to its end; None: not at its end, or not told."""
    is_here: bool = False
    """Whether its replies lie here."""
    sha256: str | None = None
    """Of the file of its replies; None: they are not here, or an older version brought them."""

    @property
    def is_underway(self) -> bool:
        return self.batch_id is not None and not self.is_here


STORED = TypeAdapter(Sent)


class Ledger:
    """The batches of one model in one run, of the endpoint that it is asked at now."""

    def __init__(self, folder: Path, address: str) -> None:
        self.folder, self.address = folder, address

    def load(self) -> list[Sent]:
        """The oldest first. What the endpoint was never asked to create is removed: nothing was paid for it. Replies
        that are not as they came are not here: the endpoint has them."""
        return [self._without_altered(state) for state in self._load_states()]

    def _load_states(self) -> list[Sent]:
        states = []
        for folder in sorted(self.folder.glob("*/")):
            state = _read_state(folder)
            if state is None and (folder / STATE).exists():
                raise ModelError(
                    f"{folder / STATE} cannot be read, so a batch that may be paid for is not known any more. Look for "
                    f"one with the metadata shaketable = {folder.name} at the endpoint, take its replies from there, "
                    "and move the folder away; its requests are asked anew then."
                )
            if state is None or not state.is_creating:
                shutil.rmtree(folder)
            elif state.address == self.address:
                states.append(state)
        return sorted(states, key=lambda state: state.made_at)

    def write(self, path: str, lines: Iterable[bytes]) -> Sent:
        """A new file of requests and the intent to send it."""
        token = secrets.token_hex(12)
        folder = self.folder / token
        folder.mkdir(parents=True)
        n_requests = 0
        with (folder / REQUESTS).open("wb") as file:
            for line in lines:
                file.write(line)
                n_requests += 1
            _settle(file.fileno())
        sent = Sent(token=token, address=self.address, path=path, n_requests=n_requests, made_at=time.time())
        self.save(sent)
        return sent

    def save(self, sent: Sent) -> Sent:
        folder = self.folder / sent.token
        write_whole(folder / STATE, json.dumps(asdict(sent)), settled=True)
        settle_folder(folder)
        return sent

    def remove(self, sent: Sent) -> None:
        shutil.rmtree(self.folder / sent.token)

    def requests(self, sent: Sent) -> Path:
        return self.folder / sent.token / REQUESTS

    def replies(self, sent: Sent) -> Path:
        return self.folder / sent.token / REPLIES

    def ids(self, sent: Sent) -> Iterator[str]:
        """Of its requests; none of a batch whose replies were let go."""
        path = self.requests(sent)
        if path.is_file():
            with path.open("rb") as file:
                yield from map(id_of_line, file)

    def _without_altered(self, sent: Sent) -> Sent:
        file = self.replies(sent)
        if not sent.is_here or sent.sha256 is None or not file.is_file() or digest_of(file) == sent.sha256:
            return sent
        logger.warning(
            "%s was altered after it was written. Its replies are taken from the endpoint again; where it has them no "
            "more, move the folder away, and its requests are asked anew.",
            file,
        )
        return replace(sent, is_here=False, sha256=None)

    def let_go(self) -> None:
        """The replies are stored elsewhere: what remains of each batch is its state."""
        for sent in self._load_states():
            if sent.is_here:
                self.requests(sent).unlink(missing_ok=True)
                self.replies(sent).unlink(missing_ok=True)


def underway_in(folder: Path) -> list[Sent]:
    """The batches somewhere in a folder that an endpoint still works on, as far as is known here."""
    states = (_read_state(path.parent) for path in sorted(folder.rglob(STATE)))
    return [state for state in states if state is not None and state.is_underway]


def digest_of(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def settle_folder(folder: Path) -> None:
    """A new name in a folder lasts when the folder itself is on disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _settle(handle: int) -> None:
    os.fsync(handle)


def _read_state(folder: Path) -> Sent | None:
    """None: there is none, or it is not as it was written."""
    try:
        kept = STORED.validate_json((folder / STATE).read_bytes(), strict=True)
    except (OSError, ValueError):
        return None
    return kept if kept.token == folder.name else None
