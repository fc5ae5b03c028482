"""Replies to trials that go on, and what is written of those they wait for: kept as they come, and used again by the
next go at the run."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter

from shaketable.identity import digest
from shaketable.stages.meter import Prices, price_of
from shaketable.store.drafts import KeptDraft, load_drafts, write_drafts
from shaketable.store.underway import KeptReply, Underway
from shaketable.types import Completion, Draft, Prompt

DRAFTS_EVERY_SECONDS = 0.5
WRITING_SHARE = 0.01
"""Of the time, at most, that is spent on writing drafts."""


class KeptSteps:
    """Without a store nothing is kept."""

    def __init__(self, store: Underway | None = None) -> None:
        self.underway = store
        self.before = {} if store is None else store.kept_replies()
        """Key of a trial → what an earlier go got for it."""
        self.waiting: dict[str, list[tuple[int, Prompt, Completion, Prices | None]]] = {}
        """Key of a trial → replies that are not stored yet: their places, what they answer, and what tokens cost."""
        self.drafts = {} if store is None else load_drafts(store.path.parent)
        """Key of a trial → what is written of the reply that it waits for, by this go or an earlier one."""
        self.draft_at = perf_counter() + DRAFTS_EVERY_SECONDS
        """When drafts are worth writing again."""

    def reply_to(self, key: str, place: int, prompt: Prompt) -> KeptReply | None:
        """What an earlier go got for this prompt of a trial; None: it must be asked."""
        kept = self.before.get(key, ())
        if place >= len(kept):
            return None
        if kept[place].prompt != digest(prompt):
            del self.before[key]  # It was another question, and so were those that follow.
            return None
        return kept[place]

    def note(self, key: str, place: int, prompt: Prompt, reply: Completion, prices: Prices | None) -> None:
        """A reply came; it is worth keeping if its trial goes on."""
        if self.underway is not None:
            self.drafts.pop(key, None)
            self.waiting.setdefault(key, []).append((place, prompt, reply, prices))

    def end(self, key: str) -> None:
        """The trial has ended: its record has it all."""
        self.waiting.pop(key, None)
        self.before.pop(key, None)
        self.drafts.pop(key, None)

    def draft_of(self, key: str, place: int, prompt: Prompt) -> Draft | None:
        """What an earlier go has written of the reply to this prompt of a trial."""
        kept = self.drafts.get(key)
        return kept.draft if kept and kept.place == place and kept.prompt == digest(prompt) else None

    def store_drafts(self, drafts: Mapping[tuple[str, int, str], Draft]) -> None:
        """By the key of a trial, the place of the reply among its replies and the digest of its prompt. What earlier
        goes have written for trials that are not taken up yet stays."""
        if self.underway is not None:
            begun = perf_counter()
            for (key, place, prompt), draft in drafts.items():
                self.drafts[key] = KeptDraft(key=key, place=place, prompt=prompt, draft=draft)
            write_drafts(self.underway.path.parent, self.drafts.values())
            now = perf_counter()
            self.draft_at = now + max(DRAFTS_EVERY_SECONDS, (now - begun) / WRITING_SHARE)

    def store(self) -> bool:
        """Store what came for trials that go on; whether anything did."""
        if self.underway is None or not self.waiting:
            return False
        self.underway.keep_replies(
            [
                KeptReply(
                    key=key,
                    place=place,
                    prompt=digest(prompt),
                    reply=reply,
                    n_calls=reply.n_calls,
                    dollars=price_of(reply, prices),
                )
                for key, replies in self.waiting.items()
                for place, prompt, reply, prices in replies
            ]
        )
        self.waiting = {}
        return True
