"""What the rows of a batch take from slots of pools: prompts that they continue, or their own tokens.

One call serves many slots, each asked by as many rows; where a slot has fewer, one of them asks again. Which slots
share a call, and by how many rows they are asked, changes no bit of what a row takes: a slot's product is its own.
Where the number of rows does change bits, every call has as many slots and each is asked by as many rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch

from shaketable.engine.attention_parts import Part, attend_grouped
from shaketable.engine.pool_runs import Asked, FixedCall, blocks, runs
from shaketable.engine.row_pool import FIXED_ROWS, RowPool


class PoolCall:
    def __init__(self, pool: RowPool, asked: Sequence[Asked], n_each: int, least_rows: int) -> None:
        self.pool, self.n_each, self.least_rows = pool, n_each, least_rows
        n_idle = FIXED_ROWS - len(asked) if pool.is_fixed else 0
        self.slots = slice(asked[0].slot.slot, asked[-1].slot.slot + 1 + n_idle)
        rows = [[*slot.rows, *[*slot.rows[:1], 0][:1] * (n_each - len(slot.rows))] for slot in asked]
        device = pool.keys[0].device
        self.asking = torch.tensor(rows + rows[:1] * n_idle, device=device).flatten()
        """Row after row of each slot, idle slots at the end."""
        self.cells = [(row, self.n_each * n + i) for n, slot in enumerate(asked) for i, row in enumerate(slot.rows)]
        """Which row of the batch asks where."""
        self.n_live = sum(bool(slot.rows) for slot in asked)
        idle = [0] * n_idle
        self.newest = torch.tensor([slot.newest for slot in asked] + idle, device=device)
        self.positions = torch.tensor([slot.position for slot in asked] + idle, device=device)
        self._unseen: dict[int | None, torch.Tensor] = {}

    def attend(self, layer: int, query: torch.Tensor, softcap: float | None, window: int | None) -> Part:
        """In the order of `asking`; query: (row, head, 1, width)."""
        keys, values = self.pool.keys[layer][self.slots], self.pool.values[layer][self.slots]
        (n_slots, groups), n_each, n_heads = keys.shape[:2], self.n_each, query.shape[1]
        if window not in self._unseen:
            first = self.positions - window + 1 if window else None
            self._unseen[window] = self.pool.unseen(self.newest, first)
        # The heads of a group look at the same keys: they go through them as if they were tokens of one head.
        grouped = query[self.asking].view(n_slots, n_each, groups, n_heads // groups, -1).transpose(1, 2)
        grouped = grouped.reshape(n_slots, groups, n_each * n_heads // groups, -1)
        attended = attend_grouped(grouped, keys, values, self._unseen[window], softcap, self.least_rows)
        by_row = (part.reshape(n_slots, groups, n_each, n_heads // groups, -1).transpose(1, 2) for part in attended)
        return Part(*(part.reshape(n_slots * n_each, 1, n_heads, -1) for part in by_row))


class PoolCalls:
    """Everything that a batch asks of one kind of pool."""

    def __init__(self, asked: Iterable[Asked], n_rows: int, least_rows: int, fixed: FixedCall | None = None) -> None:
        by_pool: dict[RowPool, list[Asked]] = {}
        for one in asked:
            by_pool.setdefault(one.slot.pool, []).append(one)
        self.calls = [
            PoolCall(pool, run, fixed.n_each if fixed else max(len(slot.rows) for slot in run), least_rows)
            for pool, slots in by_pool.items()
            for run in (blocks(slots, fixed) if fixed else runs(slots))
        ]
        places, start = [0] * n_rows, 0  # Idle rows of the batch take what any row takes.
        for call in self.calls:
            for row, cell in call.cells:
                places[row] = start + cell
            start += len(call.asking)
        self.places = torch.tensor(places, device=self.calls[0].asking.device)

    def attend(self, layer: int, query: torch.Tensor, softcap: float | None, window: int | None) -> Part:
        """What each row of the batch takes."""
        parts = [call.attend(layer, query, softcap, window) for call in self.calls]
        together = Part(*(torch.cat(same) for same in zip(*parts, strict=True))) if len(parts) > 1 else parts[0]
        return Part(*(part[self.places] for part in together))
