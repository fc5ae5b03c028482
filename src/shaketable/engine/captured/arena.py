"""Where the keys and values of texts lie: segments of one long strip of tokens, taken and given back."""

from __future__ import annotations

from typing import NamedTuple

TRASH = 0
"""The first token's place belongs to nobody: whatever no row needs is written there."""


class Segment(NamedTuple):
    start: int
    length: int


NOTHING = Segment(0, 0)


class Arena:
    """Which tokens of the strip are taken. First fit: segments live shortly and are of few sizes."""

    def __init__(self, n_tokens: int) -> None:
        self.n_tokens = n_tokens
        self.free = [Segment(TRASH + 1, n_tokens - TRASH - 1)]
        """By place; neighbours are never both free."""

    def take(self, length: int) -> Segment | None:
        """A segment of that many tokens; None: no free one is long enough."""
        if not length:
            return NOTHING
        for i, hole in enumerate(self.free):
            if hole.length >= length:
                rest = Segment(hole.start + length, hole.length - length)
                self.free[i : i + 1] = [rest] if rest.length else []
                return Segment(hole.start, length)
        return None

    def give_back(self, segment: Segment) -> None:
        if not segment.length:
            return
        i = next((i for i, hole in enumerate(self.free) if hole.start > segment.start), len(self.free))
        start, end = segment.start, segment.start + segment.length
        after = self.free[i] if i < len(self.free) else None
        before = self.free[i - 1] if i else None
        if after and after.start == end:
            end = after.start + after.length
            del self.free[i]
        if before and before.start + before.length == start:
            start = before.start
            del self.free[i - 1]
            i -= 1
        self.free.insert(i, Segment(start, end - start))

    def grow(self, n_tokens: int) -> None:
        """The strip gets longer at its end."""
        old, self.n_tokens = self.n_tokens, n_tokens
        self.give_back(Segment(old, n_tokens - old))

    @property
    def n_taken(self) -> int:
        return self.n_tokens - sum(hole.length for hole in self.free)
