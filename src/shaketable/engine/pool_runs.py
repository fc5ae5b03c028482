"""Which slots of a pool are asked in one call, and by how many rows each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from shaketable.engine.row_pool import PROMPTS_AT_ONCE, PooledRow

IDLE_ROWS = 16
"""Rows that may ask again in one call; with more, another call is cheaper."""


class FixedCall(NamedTuple):
    n_slots: int
    n_each: int
    """Rows by which each slot is asked."""


CALL_OF_PROMPTS = FixedCall(PROMPTS_AT_ONCE, 8)


class Asked(NamedTuple):
    """A slot in one step."""

    slot: PooledRow
    rows: Sequence[int]
    """Of the batch; none: the slot is idle."""
    newest: int
    """The place of the last token that is seen."""
    position: int
    """Where the rows stand, counted from the slot's first token."""


def runs(asked: list[Asked]) -> Iterator[list[Asked]]:
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


def blocks(asked: list[Asked], fixed: FixedCall) -> Iterator[list[Asked]]:
    """Always as many neighbouring slots; where one is continued by many rows, they ask in turns."""
    by_block: dict[int, list[Asked]] = {}
    for one in asked:
        by_block.setdefault(one.slot.slot // fixed.n_slots, []).append(one)
    for block, members in by_block.items():
        for turn in range(0, max(len(one.rows) for one in members), fixed.n_each):
            first = block * fixed.n_slots
            slots = [PooledRow(members[0].slot.pool, first + i, 0) for i in range(fixed.n_slots)]
            run = [Asked(slot, [], newest=0, position=0) for slot in slots]
            for one in members:
                run[one.slot.slot - first] = one._replace(rows=one.rows[turn : turn + fixed.n_each])
            yield run
