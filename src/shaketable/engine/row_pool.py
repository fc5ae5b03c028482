"""Keys and values of rows that each go on from a prompt of their own, side by side, so that one product serves all.

Rows with room for as many tokens lie in one pool. How much room a row has depends on its own length
alone, so the shapes that its numbers meet never depend on its neighbours. Where their number matters
too, as on a GPU, a pool always attends with all its slots, idle ones among them.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

BLOCK = 64
"""Room for prompts grows in steps of this many tokens."""
SMALL_BLOCK = 16
"""Room for tokens that rows have written themselves."""
PROMPTS_AT_ONCE = 4
"""Prompts that are asked in one call where every product has as many rows."""
FIXED_ROWS = 64
"""The one batch size where only one is used; a setting would change texts."""


def rounded_up(n: int, step: int) -> int:
    return -(-n // step) * step


class PooledRow:
    """Where a row lies, and how many tokens it has."""

    def __init__(self, pool: RowPool, slot: int, length: int) -> None:
        self.pool, self.slot, self.length = pool, slot, length


class RowPool:
    def __init__(self, room: int, *, is_fixed: bool = False, n_step: int = 1) -> None:
        self.room, self.is_fixed, self.n_step = room, is_fixed, n_step
        """Slots are made in steps of so many."""
        self.rows: list[PooledRow] = []
        """By slot."""
        self.keys: list[torch.Tensor] = []
        """Of each layer: (slot, group, token, width). What lies beyond a row's length is not seen."""
        self.values: list[torch.Tensor] = []

    @property
    def tensors(self) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        return self.keys, self.values

    def add(self, keys: Sequence[torch.Tensor], values: Sequence[torch.Tensor]) -> PooledRow:
        """A row with the tokens of a prompt: of each layer, (group, token, width)."""
        slot, length = len(self.rows), keys[0].shape[1]
        for pooled, given in ((self.keys, keys), (self.values, values)):
            for layer, new in enumerate(given):
                if layer == len(pooled):
                    pooled.append(new.new_zeros((0, new.shape[0], self.room, new.shape[2])))
                if slot == pooled[layer].shape[0]:
                    # Zeros, as a weight of zero must not meet what is no number.
                    more = FIXED_ROWS if self.is_fixed else rounded_up(1 + slot // 2, self.n_step)
                    pooled[layer] = torch.nn.functional.pad(pooled[layer], (0, 0, 0, 0, 0, 0, 0, more))
                pooled[layer][slot, :, :length] = new
        self.rows.append(PooledRow(self, slot, length))
        return self.rows[-1]

    def remove(self, row: PooledRow) -> None:
        """The last row moves to the slot that falls empty; slots that are not needed any more are given back."""
        last = self.rows.pop()
        n_slots = self.keys[0].shape[0]
        is_kept = len(self.rows) > (0 if self.is_fixed else n_slots // 4)
        n_kept = n_slots if is_kept else rounded_up(len(self.rows), self.n_step)
        for pooled in (self.keys, self.values):
            for layer, tensor in enumerate(pooled):
                if last is not row:
                    tensor[row.slot, :, : last.length] = tensor[last.slot, :, : last.length]
                if n_kept < n_slots:
                    pooled[layer] = tensor[:n_kept].clone()
        if last is not row:
            last.slot = row.slot
            self.rows[last.slot] = last

    def append(
        self, layer: int, keys: torch.Tensor, values: torch.Tensor, lengths: torch.Tensor, first: int = 0
    ) -> None:
        """One new token of each row from the first slot on, (slot, group, width)."""
        slots = torch.arange(first, first + len(lengths), device=keys.device)
        self.keys[layer][slots, :, lengths] = keys
        self.values[layer][slots, :, lengths] = values

    def unseen(self, newest: torch.Tensor, first: torch.Tensor | None = None) -> torch.Tensor:
        """What is added to the scores of each slot: nothing from the first place to the newest, and elsewhere so much
        less that no weight is left. No infinity: a window may hide a whole prompt, and 0 / 0 is no number."""
        places = torch.arange(self.room, device=newest.device)
        hidden = places > newest[:, None]
        if first is not None:
            hidden |= places < first[:, None]
        scores = self.keys[0].new_zeros(hidden.shape).masked_fill(hidden, torch.finfo(self.keys[0].dtype).min)
        return scores[:, None, None]


class RowPools:
    """All pools of a model, by their room."""

    def __init__(self, *, is_fixed: bool = False, block: int = BLOCK, n_step: int = 1) -> None:
        self.is_fixed, self.block, self.n_step = is_fixed, block, n_step
        """Whether everything is computed in the same shapes at every step."""
        self.by_room: dict[int, RowPool] = {}

    def add(self, keys: Sequence[torch.Tensor], values: Sequence[torch.Tensor]) -> PooledRow:
        return self._with_room_for(keys[0].shape[1] + 1).add(keys, values)

    def copy(self, row: PooledRow) -> PooledRow:
        return self.add(*([tensor[row.slot, :, : row.length] for tensor in each] for each in row.pool.tensors))

    def make_room(self, row: PooledRow) -> PooledRow:
        """The row, moved to a larger pool if its own is too small for one more token."""
        if row.length < row.pool.room:
            return row
        moved = self.copy(row)
        row.pool.remove(row)
        return moved

    def room_for(self, n_tokens: int) -> int:
        """Of the pool in which a row has so many tokens, the one that is being written among them."""
        room = rounded_up(n_tokens, self.block)
        return 1 << (room - 1).bit_length() if self.is_fixed else room  # Few pools then: each has slots for all rows.

    def _with_room_for(self, n_tokens: int) -> RowPool:
        room = self.room_for(n_tokens)
        return self.by_room.setdefault(room, RowPool(room, is_fixed=self.is_fixed, n_step=self.n_step))
