"""What the rows of a batch take from slots of pools: prompts that they continue, or their own tokens.

One call serves many slots, each asked by as many rows; where a slot has fewer, one of them asks again. Which slots
share a call, and by how many rows they are asked, changes no bit of what a row takes: a slot's product is its own.
Where the number of rows does change bits, every call has as many slots and each is asked by as many rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import torch

from shaketable.engine.attention_parts import Part, attend_grouped
from shaketable.engine.row_pool import FIXED_ROWS, PROMPTS_AT_ONCE, PooledRow, RowPool

IDLE_ROWS = 16
"""Rows that may ask again in one call; with more, another call is cheaper."""


class FixedCall(NamedTuple):
    n_slots: int
    n_each: int
    """Rows by which each slot is asked."""


ONE_PROMPT_EACH = FixedCall(PROMPTS_AT_ONCE, 8)


class Asked(NamedTuple):
    """A slot in one step."""

    slot: PooledRow
    rows: Sequence[int]
    """Of the batch; none: the slot is idle."""
    newest: int
    """The place of the last token that is seen."""
    position: int
    """Where the rows stand, counted from the slot's first token."""


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
            for run in (_blocks(slots, fixed) if fixed else _runs(slots))
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


def _runs(asked: list[Asked]) -> Iterator[list[Asked]]:
    """Neighbouring slots that are continued by about as many rows."""
    asked.sort(key=lambda one: one.slot.slot)
    run: list[Asked] = []
    for one in asked:
        numbers = [len(other.rows) for other in (*run, one)]
        if run and max(numbers) * len(numbers) - sum(numbers) > IDLE_ROWS:
            yield run
            run = []
        run.append(one)
    yield run


def _blocks(asked: list[Asked], fixed: FixedCall) -> Iterator[list[Asked]]:
    """Always as many neighbouring slots; where one is continued by many rows, they ask in turns."""
    blocks: dict[int, list[Asked]] = {}
    for one in asked:
        blocks.setdefault(one.slot.slot // fixed.n_slots, []).append(one)
    for block, members in blocks.items():
        for turn in range(0, max(len(one.rows) for one in members), fixed.n_each):
            first = block * fixed.n_slots
            slots = [PooledRow(members[0].slot.pool, first + i, 0) for i in range(fixed.n_slots)]
            run = [Asked(slot, [], newest=0, position=0) for slot in slots]
            for one in members:
                run[one.slot.slot - first] = one._replace(rows=one.rows[turn : turn + fixed.n_each])
            yield run
