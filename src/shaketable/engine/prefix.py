"""A prompt that was read, kept once for all rows that continue it, and the rows' own tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch

from shaketable.engine.row_pool import PROMPTS_AT_ONCE, SMALL_BLOCK, PooledRow, RowPools
from shaketable.engine.side_by_side import Opening


class ReadPrompt(NamedTuple):
    keys: list[torch.Tensor]
    """Of each layer after the opening, (head, token, width)."""
    values: list[torch.Tensor]
    opening: Opening | None
    """What it begins with, if that is kept for other prompts too."""

    @property
    def length(self) -> int:
        return self.keys[0].shape[1] + (self.opening.length if self.opening else 0)

    def whole(self) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        """Keys and values of each layer, the opening included."""
        keys, values = self.keys, self.values
        if self.opening:
            keys = [torch.cat(both, 1) for both in zip(self.opening.keys, keys, strict=True)]
            values = [torch.cat(both, 1) for both in zip(self.opening.values, values, strict=True)]
        return keys, values


class Pools:
    """Prompts side by side, and rows side by side, so that one call serves many."""

    def __init__(self, *, is_fixed: bool = False, product_rows: int = 0) -> None:
        self.is_fixed, self.product_rows = is_fixed, product_rows
        """Whether everything is computed in the same shapes at every step; rows then keep their prompts themselves. Or
        how many rows every product has; 0: any number."""
        self.prompts = RowPools(n_step=PROMPTS_AT_ONCE if product_rows else 1)
        n_step = product_rows or 1
        self.rows = RowPools(is_fixed=True) if is_fixed else RowPools(block=SMALL_BLOCK, n_step=n_step)


class Prefix:
    def __init__(self, prompt: ReadPrompt, n_rows: int, pools: Pools, *, is_whole: bool = False) -> None:
        """`is_whole`: the opening is kept with the rest."""
        self.opening = None if is_whole else prompt.opening
        self.prompt_length = prompt.length
        """With the opening."""
        self.own_length = 0
        self.pools = pools
        keys, values = prompt.whole() if is_whole else (prompt.keys, prompt.values)
        self.prompt: PooledRow | None = None
        """What follows the opening, if it is kept once."""
        if not pools.is_fixed:
            self.prompt = pools.prompts.add(keys, values)
            keys, values = ([layer[:, :0] for layer in layers] for layers in (keys, values))
        self.rows = [pools.rows.add(keys, values) for _ in range(n_rows)]

    @property
    def n_rows(self) -> int:
        return len(self.rows)

    def make_room(self) -> None:
        self.rows = [self.pools.rows.make_room(row) for row in self.rows]

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with these rows. One that is listed again is copied, one that is not is dropped, and the prompt with
        the last of them."""
        for row in set(range(self.n_rows)) - set(rows):
            self.rows[row].pool.remove(self.rows[row])
        first = {row: place for place, row in reversed(list(enumerate(rows)))}
        self.rows = [
            self.rows[row] if first[row] == place else self.pools.rows.copy(self.rows[row])
            for place, row in enumerate(rows)
        ]
        if self.prompt and not rows:
            self.prompt.pool.remove(self.prompt)
            self.prompt = None
