"""Which rows sit in the slots of a batch, and where the texts that they continue lie in the strip."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from shaketable.engine.captured.arena import NOTHING, Arena, Segment
from shaketable.engine.prompt_reader import KEPT_OPENINGS
from shaketable.engine.rows import Begun, Row


@dataclass(eq=False)
class HeldText:
    """A prompt after its opening, or an opening, in the strip."""

    ids: Sequence[int]
    opening: HeldText | None = None
    segment: Segment = NOTHING
    logits: torch.Tensor | None = None
    """After its last token; None: it is not read yet."""
    n_users: int = 0
    """Rows that sit, or prompts that begin with it."""

    @property
    def before(self) -> Segment:
        """Where its opening lies."""
        return self.opening.segment if self.opening else NOTHING


@dataclass(eq=False)
class Held:
    """A prompt whose rows do not all sit yet."""

    prompt_ids: list[int]
    text: HeldText
    rows: deque[Row]

    def unread(self) -> list[HeldText]:
        return [text for text in (self.text.opening, self.text) if text and not text.segment.length]


@dataclass(frozen=True, eq=False)
class Seat:
    row: Row
    prompt_ids: list[int]
    text: HeldText
    own: Segment

    @property
    def is_plain(self) -> bool:
        """Whether the device draws its tokens without more ado."""
        sampling = self.row.sampling
        is_whole = not sampling.top_k and sampling.top_p >= 1.0
        return sampling.repetition_penalty == 1.0 and (is_whole or sampling.temperature == 0)

    @property
    def seen(self) -> Sequence[int]:
        """What a penalty looks at."""
        return self.prompt_ids + self.row.tokens if self.row.sampling.repetition_penalty != 1.0 else ()


class Seating:
    def __init__(self, n_slots: int, n_places: int) -> None:
        self.arena = Arena(n_places)
        self.held: deque[Held] = deque()
        self.seats: list[Seat | None] = [None] * n_slots
        self.vacated: set[int] = set()
        """Slots whose last row the device still goes on with."""
        self.opened: OrderedDict[tuple[int, ...], HeldText] = OrderedDict()
        """Openings, the least used first."""

    @property
    def n_free(self) -> int:
        return self.seats.count(None)

    @property
    def n_held(self) -> int:
        return sum(len(held.rows) for held in self.held)

    def taken(self) -> dict[int, Seat]:
        return {slot: seat for slot, seat in enumerate(self.seats) if seat}

    def hold(self, begun: Begun) -> None:
        n_opening, ids = begun.n_opening, begun.prompt_ids
        opening = None
        if n_opening:
            key = tuple(ids[:n_opening])
            opening = self.opened.setdefault(key, HeldText(key))
            self.opened.move_to_end(key)
            opening.n_users += 1
        self.held.append(Held(ids, HeldText(ids[n_opening:], opening), deque(begun.rows)))

    def seat_held(self) -> tuple[dict[int, Seat], list[HeldText]]:
        """The next rows in free slots, as far as the strip has room, and the texts that must be read for them."""
        seated: dict[int, Seat] = {}
        unread: list[HeldText] = []
        for slot in [slot for slot, seat in enumerate(self.seats) if seat is None]:
            if not self.held or not (seat := self._seat_next(self.held[0], unread)):
                break
            self.seats[slot] = seated[slot] = seat
            if not self.held[0].rows:
                self.held.popleft()
        return seated, unread

    def _seat_next(self, held: Held, unread: list[HeldText]) -> Seat | None:
        texts = held.unread()
        lengths = [*(len(text.ids) for text in texts), held.rows[0].sampling.max_tokens - 1]
        segments = [self.arena.take(length) for length in lengths]
        taken = [segment for segment in segments if segment is not None]
        if len(taken) < len(segments):
            for segment in taken:
                self.arena.give_back(segment)
            return None
        for text, segment in zip(texts, taken[:-1], strict=True):
            text.segment = segment
        unread += texts
        held.text.n_users += 1
        return Seat(held.rows.popleft(), held.prompt_ids, held.text, taken[-1])

    def n_needed(self) -> int:
        """Tokens that the rows for the free slots need room for."""
        n_free, n_tokens, counted = self.n_free, 0, set[HeldText]()
        for held in self.held:
            new = set(held.unread()) - counted
            counted |= new
            rows = list(held.rows)[:n_free]
            n_tokens += sum(len(text.ids) for text in new) + sum(row.sampling.max_tokens - 1 for row in rows)
            n_free -= len(rows)
            if not n_free:
                break
        return n_tokens

    def vacate(self, slot: int, seat: Seat) -> None:
        self.seats[slot] = None
        self.vacated.add(slot)
        self.arena.give_back(seat.own)
        seat.text.n_users -= 1
        if seat.text.n_users or any(held.text is seat.text for held in self.held):
            return
        self.arena.give_back(seat.text.segment)
        if seat.text.opening:
            seat.text.opening.n_users -= 1

    def let_openings_go(self, n_kept: int = KEPT_OPENINGS) -> None:
        """Those that no prompt begins with, beyond so many."""
        for ids, opening in list(self.opened.items())[: max(0, len(self.opened) - n_kept)]:
            if not opening.n_users:
                self.arena.give_back(opening.segment)
                del self.opened[ids]
