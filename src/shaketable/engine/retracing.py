"""Tokens that a row has written, read again in one pass with the bits of the steps that wrote them.

A process that was killed leaves drafts: tokens without their keys and values. Here each of them is a row of one batch,
in the shapes of the step that wrote it, and in each layer sees what those before it have added there. So going on from
a draft takes the time of a few steps, and what follows is what would have followed.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import torch

from shaketable.engine.prefix import Prefix, ReadPrompt
from shaketable.engine.prompt_reader import PromptReader
from shaketable.engine.row_pool import PooledRow, RowPool, rounded_up
from shaketable.engine.shared_prefix import PrefixCache

PLACES_AT_ONCE = 1 << 15
"""Of tokens, in the rows of one pass: what lies in them is there once for all layers, so they take some 50 MB."""


def retrace(reader: PromptReader, read: ReadPrompt, drafts: Sequence[Sequence[int]]) -> tuple[Prefix, torch.Tensor]:
    """Rows that go on from a prompt after tokens of their own, as many each, and the next logits of each."""
    prefix = reader.prefix(read, 0)
    rows, logits = zip(*(_retrace_row(reader, prefix, draft) for draft in drafts), strict=True)
    prefix.rows, prefix.own_length = list(rows), len(drafts[0])
    return prefix, torch.cat(logits)


def _retrace_row(reader: PromptReader, prefix: Prefix, ids: Sequence[int]) -> tuple[PooledRow, torch.Tensor]:
    assert prefix.prompt is not None, "A prompt that rows keep themselves is not retraced."
    pools = prefix.pools.rows
    written = Written(prefix.prompt.pool)
    n_at_once = max(1, PLACES_AT_ONCE // pools.room_for(len(ids)))
    for first in range(0, len(ids), n_at_once):
        part = list(ids[first : first + n_at_once])
        steps = Steps(prefix, first, len(part))
        cache = RetracingCache(steps, written, reader.n_with_idle(len(part)), reader.least_rows)
        positions = range(prefix.prompt_length + first, prefix.prompt_length + first + len(part))
        logits = reader.step(cache, part, list(positions))
    return pools.add(written.keys, written.values), logits[-1:]


class Written:
    """Keys and values of a row's own tokens so far, of each layer: (group, token, width)."""

    def __init__(self, like: RowPool) -> None:
        self.keys, self.values = ([layer[0, :, :0] for layer in layers] for layers in like.tensors)


class Steps(Prefix):
    """The steps that wrote some tokens of a row, as rows: the n-th of them has n of its own tokens before it."""

    def __init__(self, prefix: Prefix, first: int, n_steps: int) -> None:
        assert prefix.prompt is not None
        self.opening, self.prompt, self.pools = prefix.opening, prefix.prompt, prefix.pools
        self.prompt_length, self.own_length = prefix.prompt_length, first
        lengths = range(first, first + n_steps)
        rooms = [self.pools.rows.room_for(length + 1) for length in lengths]
        n_slots = {room: rounded_up(rooms.count(room), self.pools.rows.n_step) for room in dict.fromkeys(rooms)}
        self.scratch = {room: _scratch(prefix.prompt.pool, room, n) for room, n in n_slots.items()}
        slots = (rooms[:place].count(room) for place, room in enumerate(rooms))
        self.rows = [
            PooledRow(self.scratch[room], slot, length)
            for room, slot, length in zip(rooms, slots, lengths, strict=True)
        ]

    def make_room(self) -> None:
        """They have it."""


def _scratch(like: RowPool, room: int, n_slots: int) -> RowPool:
    """A pool whose layers lie in the same place: each is filled before its attention, and not needed after it."""

    @functools.cache
    def zeros(groups: int, width: int, is_keys: bool) -> torch.Tensor:
        return like.keys[0].new_zeros((n_slots, groups, room, width))

    pool = RowPool(room)
    pool.keys = [zeros(layer.shape[1], layer.shape[3], True) for layer in like.keys]
    pool.values = [zeros(layer.shape[1], layer.shape[3], False) for layer in like.values]
    return pool


class RetracingCache(PrefixCache):
    """What transformers sees of such steps."""

    def __init__(self, steps: Steps, written: Written, n_rows: int, least_rows: int) -> None:
        super().__init__([steps], n_rows, least_rows)
        self.steps, self.written = steps, written

    def update(
        self, keys: torch.Tensor, values: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        for new, so_far in ((keys, self.written.keys), (values, self.written.values)):
            own = new[: self.steps.n_rows, :, 0].transpose(0, 1)
            so_far[layer_idx] = torch.cat([so_far[layer_idx], own], 1)
        for pool in self.steps.scratch.values():
            for places, so_far in zip(pool.tensors, (self.written.keys, self.written.values), strict=True):
                # All of them see all tokens; what a step had not written yet is hidden from it as idle places are.
                seen = so_far[layer_idx][:, : pool.room]
                places[layer_idx][:, :, : seen.shape[1]] = seen
        return keys, values
