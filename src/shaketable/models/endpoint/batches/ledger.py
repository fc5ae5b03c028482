"""Batches on disk: what was sent, by which name the endpoint knows it, and what came back.

A folder for each: its requests, its state and its replies. The intent is on disk before the endpoint hears of it, so
that a process that is killed at any moment finds its batch again, and nothing is paid twice.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from shaketable.errors import ModelError
from shaketable.models.endpoint.batches.requests import id_of_line
from shaketable.text.whole_file import write_whole

REQUESTS, REPLIES, STATE = "requests.jsonl", "replies.jsonl", "state.json"


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

    @property
    def is_underway(self) -> bool:
        return self.batch_id is not None and not self.is_here


class Ledger:
    """The batches of one model in one run, of the endpoint that it is asked at now."""

    def __init__(self, folder: Path, address: str) -> None:
        self.folder, self.address = folder, address

    def load(self) -> list[Sent]:
        """The oldest first. What the endpoint was never asked to create is removed: nothing was paid for it."""
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

    def let_go(self) -> None:
        """The replies are stored elsewhere: what remains of each batch is its state."""
        for sent in self.load():
            if sent.is_here:
                self.requests(sent).unlink(missing_ok=True)
                self.replies(sent).unlink(missing_ok=True)


def underway_in(folder: Path) -> list[Sent]:
    """The batches somewhere in a folder that an endpoint still works on, as far as is known here."""
    states = (_read_state(path.parent) for path in sorted(folder.rglob(STATE)))
    return [state for state in states if state is not None and state.is_underway]


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
    try:
        return Sent(**json.loads((folder / STATE).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None
