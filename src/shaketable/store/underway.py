"""Replies to trials that are still under way, so that an interrupted run asks and pays for none of them again."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass

from shaketable.store.sealing.rows import checksum
from shaketable.store.sealing.seals import insert_sealed
from shaketable.store.shared_texts import SharedTexts
from shaketable.store.trace import pack_completion, unpack_completion
from shaketable.types import Completion


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptReply:
    """What a model replied to one prompt of a trial that goes on."""

    key: str
    """Of the trial."""
    place: int
    """Among the replies of its trial, from 0."""
    prompt: str
    """The digest of what was asked: a reply answers nothing else."""
    reply: Completion
    n_calls: int
    """Calls behind it."""
    dollars: float | None
    """What they cost; None: not known."""


class Underway(SharedTexts):
    @functools.cached_property
    def _kept_keys(self) -> set[str]:
        """Of trials of which replies are kept; there is one writer, which knows them from then on."""
        return {key for (key,) in self.rows("SELECT DISTINCT key FROM underway")}

    def keep_replies(self, replies: Sequence[KeptReply]) -> None:
        """In one transaction. They go when the record of their trial comes."""
        texts: dict[str, str] = {}
        rows = []
        for kept in replies:
            body = pack_completion(kept.reply, lambda value: self._keep(value, texts))
            row = (kept.key, kept.place, kept.prompt, body, kept.n_calls, kept.dollars)
            rows.append((*row, checksum(row)))
        with self._writing() as connection:
            connection.executemany("INSERT OR IGNORE INTO texts VALUES (?, ?)", texts.items())
            insert_sealed(connection, self._changes, "underway", "key, place", rows)
        self._known_texts.update(texts)
        self._kept_keys.update(kept.key for kept in replies)

    def kept_replies(self) -> dict[str, list[KeptReply]]:
        """Key of a trial → its replies in their order, up to the first that is missing or was altered."""
        kept: dict[str, list[KeptReply]] = {}
        if not self.has_table("underway"):
            return kept
        for *row, found in self.stream("SELECT * FROM underway ORDER BY key, place"):
            key, place, prompt, body, n_calls, dollars = row
            replies = kept.setdefault(key, [])
            if len(replies) == place and checksum(tuple(row)) == found:
                reply = unpack_completion(json.loads(body), self._fetch)
                replies.append(
                    KeptReply(key=key, place=place, prompt=prompt, reply=reply, n_calls=n_calls, dollars=dollars)
                )
        return {key: replies for key, replies in kept.items() if replies}

    def spent_underway(self) -> tuple[int, float]:
        """Calls and USD behind what is kept."""
        if not self.has_table("underway"):
            return 0, 0.0
        [(n_calls, dollars)] = self.rows("SELECT TOTAL(n_calls), TOTAL(dollars) FROM underway")
        return int(n_calls), dollars
