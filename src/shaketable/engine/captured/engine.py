"""The local engine on a GPU: rows sit in fixed slots, and every step is a replay of the same graphs.

While the device reads the newest tokens, the processor looks at them, lets finished rows go and seats others. A
prompt's keys and values are kept once for all its rows. Rows always meet the same shapes, so a row's text does not
depend on its neighbours; `captured_proof` checks it.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Unpack

import numpy as np
import torch
from transformers import DynamicCache

from shaketable.engine.captured.card import free_bytes
from shaketable.engine.captured.graphs import N_COLUMNS, N_READ, FixedPasses, line_of
from shaketable.engine.captured.pages import Text, pages
from shaketable.engine.captured.proof import holds
from shaketable.engine.captured.ragged_attention import can_compile
from shaketable.engine.captured.seating import HeldText, Seat, Seating
from shaketable.engine.checkpoint import EngineSettings
from shaketable.engine.completing import complete, finish_reason
from shaketable.engine.proof import Checks, Proof
from shaketable.engine.rows import PLAIN, note_extras
from shaketable.engine.sampling import draw
from shaketable.engine.sweep import Replies, SweepEngine
from shaketable.errors import ModelError

FIXED_SLOTS = 128
"""The one number of rows where texts may not depend on it; a setting would change them."""
FEW_SLOTS = 16
"""Where they may, the smallest of the numbers that are used; each next one is twice as large."""
FREE_PAGES = (N_READ // 4, N_READ, 4 * N_READ)
"""Where they may, a pass reads as few tokens as will do."""
FIRST_PLACES = 4096
"""Tokens that the strip has room for at first."""
SPARE = 1.1
"""Of the room that rows need, in case they lie badly."""


class CapturedEngine(SweepEngine):
    def __init__(self, path: Path, **settings: Unpack[EngineSettings]) -> None:
        super().__init__(path, **settings)
        self.n_slots = FIXED_SLOTS if self.batching == "exact" else self.n_rows
        self.seating = Seating(self.n_slots, FIRST_PLACES)

    @functools.cached_property
    def passes(self) -> FixedPasses:
        return self.open_passes(self.seating.arena.n_tokens)

    def open_passes(self, n_places: int) -> FixedPasses:
        page_sizes = (N_READ,) if self.batching == "exact" else FREE_PAGES
        return FixedPasses(self, n_slots=self.n_slots, n_places=n_places, page_sizes=page_sizes)

    def prove(self, checks: Checks) -> Proof:
        """`fixed`, if the kernel serves this model and holds what is promised; else as without it."""
        has_kernel = not self.device.startswith("cuda") or can_compile()
        with self._on_its_device():
            is_captured = has_kernel and holds(self, self.open_passes)
        return Proof(way="fixed", is_captured=True) if is_captured else super().prove(checks)

    def _on_its_device(self) -> AbstractContextManager[object]:
        """Graphs and kernels go to the current one of several GPUs."""
        return torch.cuda.device(self.device) if self.device.startswith("cuda") else nullcontext()

    def forget(self) -> None:
        super().forget()
        self.seating = Seating(self.n_slots, FIRST_PLACES)
        self.__dict__.pop("passes", None)

    def written(self) -> dict[int, int]:
        seated = {ticket: len(seat.row.tokens) for seat in self.seating.taken().values() for ticket in seat.row.tickets}
        return super().written() | seated

    def _decode_until_one_is_finished(self, end: float) -> Replies:
        if not self.proof.is_captured:
            return super()._decode_until_one_is_finished(end)
        with self._on_its_device():
            while True:
                self._seat_waiting()
                finished, self.failed = self.failed, []
                if not self.seating.taken():
                    return finished
                finished += self._step_captured()
                if finished or time.perf_counter() >= end:
                    return finished

    # --- seating ------------------------------------------------------------------------------

    def _seat_waiting(self) -> None:
        """Rows for the free slots, the oldest first, as far as the strip has room for them."""
        start = time.perf_counter()
        while self.waiting and self.seating.n_held < self.seating.n_free:
            for begun in self._next_waiting(1 << 30):
                self.seating.hold(begun)
        self._make_room()
        seated, unread = self.seating.seat_held()
        if self.seating.held and not self.seating.taken():
            raise ModelError(self._too_little_memory(len(self.seating.held[0].prompt_ids)))
        self._read_texts(unread)
        self._tell_the_device(seated)
        for seat in seated.values():
            seat.row.seconds += (time.perf_counter() - start) / len(seated)

    def _make_room(self) -> None:
        """Let openings go that nobody uses and lengthen the strip, if the rows to be seated ask for it."""
        seating = self.seating
        seating.let_openings_go()
        needed = int(SPARE * seating.n_needed())
        if seating.arena.n_taken + needed <= seating.arena.n_tokens:
            return
        seating.let_openings_go(0)
        n_places = min(seating.arena.n_taken + needed, seating.arena.n_tokens + self._n_more_places())
        if n_places > seating.arena.n_tokens:
            seating.arena.grow(n_places)
            self.passes.grow(n_places)

    def _n_more_places(self) -> int:
        """How many more tokens the card has room for."""
        return free_bytes(self.device) // self.token_bytes if self.device.startswith("cuda") else 1 << 40

    @functools.cached_property
    def token_bytes(self) -> int:
        """What a token's keys and values take in all layers."""
        cache = DynamicCache(config=self.model.config)
        with torch.inference_mode():
            self.read([0], cache)
        kept = [tensor for layer in cache.layers for tensor in (layer.keys, layer.values)]
        return sum(tensor.numel() * tensor.element_size() for tensor in kept)

    def _too_little_memory(self, n_tokens: int) -> str:
        return (
            f"{self.path.name} leaves too little memory on {self.device} for a prompt of {n_tokens:,} tokens and its "
            f"answer: a token takes {self.token_bytes / 1e6:.2f} MB. Give less evidence, lower generation.max_tokens, "
            "or use a smaller model or dtype."
        )

    def _read_texts(self, texts: Sequence[HeldText]) -> None:
        told = [Text(ids=text.ids, segment=text.segment, opening=text.before) for text in texts]
        read = iter(texts)
        for page, ends in pages(told, self.passes.n_read):
            # The logits come first: zip must not take a text from the iterator in vain.
            for logits, text in zip(self.passes.read(page, ends), read, strict=False):
                text.logits = logits

    def _tell_the_device(self, seated: Mapping[int, Seat]) -> None:
        idle = self.seating.vacated - set(seated)
        self.seating.vacated = set()
        if not seated and not idle:
            return
        n_numbers = max((len(seat.row.numbers) for seat in seated.values()), default=0)
        if n_numbers > self.passes.n_numbers:
            self.passes.make_room_for_numbers(n_numbers)
        table = np.zeros((len(seated) + len(idle), N_COLUMNS), dtype=np.int64)
        dice = np.zeros((len(table), 1 + n_numbers))
        for i, seat in enumerate(seated.values()):
            table[i] = line_of(seat.text.before, seat.text.segment, seat.own)
            dice[i, 0] = seat.row.sampling.temperature
            dice[i, 1 : 1 + len(seat.row.numbers)] = seat.row.numbers
        logits = [seat.text.logits for seat in seated.values() if seat.text.logits is not None]
        self.passes.seat([*seated, *idle], table, dice, torch.stack(logits) if logits else None)

    # --- one step -----------------------------------------------------------------------------

    def _step_captured(self) -> Replies:
        start = time.perf_counter()
        seats = self.seating.taken()
        n_slots = self._n_slots_used(seats)
        self.passes.draw(n_slots)
        self._draw_with_care(n_slots, seats)
        self._note_extras(n_slots, seats)
        fetch = _sent_here(self.passes.tokens[:n_slots])
        self.passes.advance(n_slots)
        tokens = fetch()
        self.n_positions += len(seats)
        share = (time.perf_counter() - start) / len(seats)
        finished: Replies = []
        for slot, seat in seats.items():
            seat.row.seconds += share
            seat.row.tokens.append(tokens[slot])
            if reason := finish_reason(seat.row, self):
                completion = complete(seat.row, reason, seat.prompt_ids, self)
                finished += [(ticket, completion) for ticket in seat.row.tickets]
                self.seating.vacate(slot, seat)
        return finished

    def _n_slots_used(self, seats: Mapping[int, Seat]) -> int:
        n_slots = self.n_slots if self.batching == "exact" else FEW_SLOTS
        while n_slots <= max(seats):
            n_slots *= 2
        return min(n_slots, self.n_slots)

    def _draw_with_care(self, n_slots: int, seats: Mapping[int, Seat]) -> None:
        """The tokens of rows with truncation or penalty, drawn again among all rows, so that shapes stay the same."""
        careful = {slot: seat for slot, seat in seats.items() if not seat.is_plain}
        if not careful:
            return
        samplings, numbers, seen = [PLAIN] * n_slots, [0.0] * n_slots, list[Sequence[int]]([()] * n_slots)
        for slot, seat in careful.items():
            samplings[slot], seen[slot] = seat.row.sampling, seat.seen
            numbers[slot] = float(seat.row.numbers[len(seat.row.tokens)])
        tokens = draw(self.passes.logits[:n_slots], samplings, numbers, seen)
        places = torch.tensor(list(careful), device=self.device)
        self.passes.tokens[places] = tokens[places]

    def _note_extras(self, n_slots: int, seats: Mapping[int, Seat]) -> None:
        if not any(seat.row.prompt.wants for seat in seats.values()):
            return
        rows = [seats[slot].row if slot in seats else None for slot in range(n_slots)]
        seen = [seats[slot].seen if slot in seats else () for slot in range(n_slots)]
        note_extras(rows, self.passes.logits[:n_slots], self.passes.tokens[:n_slots], seen, self)


def _sent_here(tokens: torch.Tensor) -> Callable[[], list[int]]:
    """What gives the tokens, once the device has drawn them; it goes on meanwhile."""
    if not tokens.is_cuda:
        drawn: list[int] = tokens.tolist()
        return lambda: drawn
    here = torch.empty(tokens.shape, dtype=tokens.dtype, pin_memory=True)
    here.copy_(tokens, non_blocking=True)
    arrival = torch.cuda.Event()  # type: ignore[no-untyped-call]
    arrival.record()

    def arrived() -> list[int]:
        arrival.synchronize()
        drawn: list[int] = here.tolist()
        return drawn

    return arrived
