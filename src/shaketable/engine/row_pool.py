"""Keys and values of rows that each go on from a prompt of their own, side by side, so that one product serves all.

Rows with room for as many tokens lie in one pool. How much room a row has depends on its own length
alone, so the shapes that its numbers meet never depend on its neighbours. Where their number matters
too, as on a GPU, a pool always attends with all its slots, idle ones among them.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from shaketable.engine.attention_parts import FUSED, Part, can_fuse, capped

BLOCK = 64
"""Room grows in steps of this many tokens."""
FIXED_ROWS = 64
"""The one batch size where only one is used; a setting would change texts."""


class PooledRow:
    """Where a row lies, and how many tokens it has."""

    def __init__(self, pool: RowPool, slot: int, length: int) -> None:
        self.pool, self.slot, self.length = pool, slot, length


class RowPool:
    def __init__(self, room: int, *, is_fixed: bool = False) -> None:
        self.room, self.is_fixed = room, is_fixed
        self.rows: list[PooledRow] = []
        """By slot."""
        self.keys: list[torch.Tensor] = []
        """Of each layer: (slot, group, token, width). What lies beyond a row's length is not seen."""
        self.values: list[torch.Tensor] = []

    def add(self, keys: Sequence[torch.Tensor], values: Sequence[torch.Tensor]) -> PooledRow:
        """A row with the tokens of a prompt: of each layer, (group, token, width)."""
        slot, length = len(self.rows), keys[0].shape[1]
        for pooled, given in ((self.keys, keys), (self.values, values)):
            for layer, new in enumerate(given):
                if layer == len(pooled):
                    pooled.append(new.new_zeros((0, new.shape[0], self.room, new.shape[2])))
                if slot == pooled[layer].shape[0]:
                    # Zeros, as a weight of zero must not meet what is no number.
                    more = FIXED_ROWS if self.is_fixed else 1 + slot // 2
                    pooled[layer] = torch.nn.functional.pad(pooled[layer], (0, 0, 0, 0, 0, 0, 0, more))
                pooled[layer][slot, :, :length] = new
        self.rows.append(PooledRow(self, slot, length))
        return self.rows[-1]

    def remove(self, row: PooledRow) -> None:
        """The last row moves to the slot that falls empty; slots that are not needed any more are given back."""
        last = self.rows.pop()
        n_slots = self.keys[0].shape[0]
        is_kept = len(self.rows) > (0 if self.is_fixed else n_slots // 4)
        n_kept = n_slots if is_kept else len(self.rows)
        for pooled in (self.keys, self.values):
            for layer, tensor in enumerate(pooled):
                if last is not row:
                    tensor[row.slot, :, : last.length] = tensor[last.slot, :, : last.length]
                if n_kept < n_slots:
                    pooled[layer] = tensor[:n_kept].clone()
        if last is not row:
            last.slot = row.slot
            self.rows[last.slot] = last

    def append(self, layer: int, keys: torch.Tensor, values: torch.Tensor, lengths: torch.Tensor) -> None:
        """One new token of each row, (slot, group, width)."""
        slots = torch.arange(len(self.rows), device=keys.device)
        self.keys[layer][slots, :, lengths] = keys
        self.values[layer][slots, :, lengths] = values

    def attend(self, layer: int, query: torch.Tensor, unseen: torch.Tensor, softcap: float | None) -> Part:
        """From the rows' tokens; query: (slot, head, 1, width)."""
        n_rows, n_heads, _, width = query.shape
        keys, values = self.keys[layer][:n_rows], self.values[layer][:n_rows]
        groups = keys.shape[1]
        # The heads of a group look at the same keys: they go through them as if they were tokens of one head.
        grouped = query.view(n_rows, groups, n_heads // groups, width)
        if can_fuse(query, values, softcap):
            taken, total = FUSED(grouped, keys, values, attn_mask=unseen, scale=1.0)
            total = total.reshape(n_rows, 1, n_heads, 1)
            return Part(taken.reshape(n_rows, 1, n_heads, width), total, torch.ones_like(total))
        scores = capped(torch.matmul(grouped, keys.transpose(2, 3)), softcap) + unseen
        exact = torch.softmax(scores, -1, dtype=torch.float32)
        taken = torch.matmul(exact.to(query.dtype), values).view(n_rows, 1, n_heads, -1)
        return Part(taken, *(tensor.amax(-1).view(n_rows, 1, n_heads, 1) for tensor in (scores, exact)))

    def unseen(self, lengths: torch.Tensor, window: int | None = None) -> torch.Tensor:
        """What is added to scores: minus infinity beyond the newest tokens, which stand at `lengths`, and before those
        that a window shows."""
        places = torch.arange(self.room, device=lengths.device)
        hidden = places > lengths[:, None]
        if window:
            hidden |= places <= lengths[:, None] - window
        scores = self.keys[0].new_zeros(hidden.shape).masked_fill(hidden, -torch.inf)
        return scores[:, None, None]


class RowPools:
    """All pools of a model, by their room."""

    def __init__(self, *, is_fixed: bool = False) -> None:
        self.is_fixed = is_fixed
        """Whether everything is computed in the same shapes at every step."""
        self.by_room: dict[int, RowPool] = {}

    def add(self, keys: Sequence[torch.Tensor], values: Sequence[torch.Tensor]) -> PooledRow:
        return self._with_room_for(keys[0].shape[1] + 1).add(keys, values)

    def make_room(self, row: PooledRow) -> PooledRow:
        """The row, moved to a larger pool if its own is too small for one more token."""
        if row.length < row.pool.room:
            return row
        keys, values = ([tensor[row.slot] for tensor in pooled] for pooled in (row.pool.keys, row.pool.values))
        moved = self._with_room_for(row.length + 1).add(keys, values)
        row.pool.remove(row)
        return moved

    def _with_room_for(self, n_tokens: int) -> RowPool:
        room = -(-n_tokens // BLOCK) * BLOCK
        if self.is_fixed:  # Few pools: each has slots for all rows.
            room = 1 << (room - 1).bit_length()
        return self.by_room.setdefault(room, RowPool(room, is_fixed=self.is_fixed))
