"""Keys and values of tokens that were read, kept for prompts that begin alike.

Nothing depends on what happens to be kept, because `continued` gives a token the same numbers in every pass.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch

KEPT_BLOCK = 8
"""Tokens that are kept, found and let go together."""
MOST_BYTES = 1 << 30

Key = tuple["tuple[int, ...] | int", tuple[int, ...]]
"""The tokens of a block after those before it: an opening, or a block by its number."""


class Kept(NamedTuple):
    number: int
    keys: torch.Tensor
    """(layer, head, token, width)"""
    values: torch.Tensor

    @property
    def n_bytes(self) -> int:
        return self.keys.nbytes + self.values.nbytes


class Beginning(NamedTuple):
    """What is kept of a text."""

    length: int
    """Tokens."""
    next_key: Key
    """Of the block that is not kept. Texts with the same one go on alike."""
    blocks: tuple[Kept, ...]

    def joined(self) -> tuple[torch.Tensor | None, torch.Tensor | None]:
        """Keys and values, (layer, head, token, width); None: nothing is kept."""
        if not self.blocks:
            return None, None
        keys = torch.cat([block.keys for block in self.blocks], 2)
        return keys, torch.cat([block.values for block in self.blocks], 2)


class KeptTokens:
    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes, self.n_bytes = most_bytes, 0
        self.blocks: OrderedDict[Key, Kept] = OrderedDict()
        """Those that were used last stand at the end, and each stands after what follows it."""
        self.n_numbered = 0

    def beginning(self, opening: tuple[int, ...], ids: Sequence[int]) -> Beginning:
        """What is known of a text after its opening. Its last token is always read: what follows it is asked for."""
        blocks: list[Kept] = []
        for key in self._keys(opening, ids, blocks):
            if len(blocks) * KEPT_BLOCK + KEPT_BLOCK >= len(ids) or key not in self.blocks:
                break
            blocks.append(self.blocks[key])
        return Beginning(len(blocks) * KEPT_BLOCK, key, tuple(blocks))

    def keep(
        self, opening: tuple[int, ...], ids: Sequence[int], keys: Sequence[torch.Tensor], values: Sequence[torch.Tensor]
    ) -> None:
        """Of each layer, (head, token, width). Layers of different shapes are not kept."""
        if len({layer.shape for layer in keys}) > 1 or len({layer.shape for layer in values}) > 1:
            return
        used: list[Key] = []
        blocks: list[Kept] = []
        for key in self._keys(opening, ids, blocks):
            if len(key[1]) < KEPT_BLOCK:
                break
            if key not in self.blocks:
                start = len(blocks) * KEPT_BLOCK
                cut = slice(start, start + KEPT_BLOCK)
                both = (torch.stack([layer[:, cut] for layer in each]) for each in (keys, values))
                self.n_numbered += 1
                self.blocks[key] = Kept(self.n_numbered, *both)
                self.n_bytes += self.blocks[key].n_bytes
            blocks.append(self.blocks[key])
            used.append(key)
        for key in reversed(used):
            self.blocks.move_to_end(key)
        while self.n_bytes > self.most_bytes:
            self.n_bytes -= self.blocks.popitem(last=False)[1].n_bytes

    def _keys(self, opening: tuple[int, ...], ids: Sequence[int], blocks: Sequence[Kept]) -> Iterator[Key]:
        """Block after block, each of which the caller has added before it asks for the next."""
        for start in range(0, len(ids), KEPT_BLOCK):
            yield blocks[-1].number if blocks else opening, tuple(ids[start : start + KEPT_BLOCK])

    def clear(self) -> None:
        self.blocks.clear()
        self.n_bytes = 0
