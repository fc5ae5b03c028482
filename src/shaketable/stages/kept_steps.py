"""Replies to trials that go on: kept as they come, and used again by the next go at the run."""

from __future__ import annotations

from shaketable.identity import digest
from shaketable.stages.meter import Prices, price_of
from shaketable.store.underway import KeptReply, Underway
from shaketable.types import Completion, Prompt


class KeptSteps:
    """Without a store nothing is kept."""

    def __init__(self, store: Underway | None = None) -> None:
        self.underway = store
        self.before = {} if store is None else store.kept_replies()
        """Key of a trial → what an earlier go got for it."""
        self.waiting: dict[str, list[tuple[int, Prompt, Completion, Prices | None]]] = {}
        """Key of a trial → replies that are not stored yet: their places, what they answer, and what tokens cost."""

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
            self.waiting.setdefault(key, []).append((place, prompt, reply, prices))

    def end(self, key: str) -> None:
        """The trial has ended: its record has it all."""
        self.waiting.pop(key, None)
        self.before.pop(key, None)

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
