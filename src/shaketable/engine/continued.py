"""Prompts read from where one that began alike was read, with the numbers that they have when they are read whole.

Tokens attend block by block, counted from the end of the opening: each at its place in a block of full size, to the
keys of whole blocks. So the shapes that its numbers meet depend on its place alone, and not on what is read beside it,
was read before it, or follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from shaketable.engine.kept_tokens import Beginning
from shaketable.engine.side_by_side import Opening, Piece, SideBySide

BLOCK = 32
"""Tokens that the fused attention takes at once, at the least."""


class Continued(SideBySide):
    def __init__(
        self,
        texts: Sequence[Sequence[int]],
        openings: Sequence[Opening | None],
        beginnings: Sequence[Beginning],
        *,
        least_rows: int,
    ) -> None:
        """`beginnings`: what is known of each text."""
        starts = [beginning.length for beginning in beginnings]
        unread = [text[start:] for text, start in zip(texts, starts, strict=True)]
        super().__init__(unread, openings, starts=starts, least_rows=least_rows)
        self.pieces = [piece for i in range(len(texts)) for piece in self._blocks(i)]
        self.known = [beginning.joined() for beginning in beginnings]
        self.read: list[tuple[list[torch.Tensor], list[torch.Tensor]]] = [([], []) for _ in texts]
        """Of each text, keys and values of each layer, (head, token, width), with room for whole blocks."""

    def update(
        self, keys: torch.Tensor, values: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        new = (torch.split(each[0, :, : self.n_tokens], self.lengths, 1) for each in (keys, values))
        for i, both in enumerate(zip(*new, strict=True)):
            for layers, known, unread in zip(self.read[i], self.known[i], both, strict=True):
                before = known[layer_idx] if known is not None else unread[:, :0]
                # Idle keys are zeros, as a weight of zero must not meet what is no number.
                idle = unread.new_zeros((unread.shape[0], -self.ends_at(i) % BLOCK, unread.shape[2]))
                layers.append(torch.cat([before, unread, idle], 1))
        self.kept = [(keys[layer_idx][None], values[layer_idx][None]) for keys, values in self.read]
        return keys, values

    def prompt(self, i: int) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        """Keys and values of each layer of a text, (head, token, width), what was known included."""
        keys, values = ([layer[:, : self.ends_at(i)] for layer in layers] for layers in self.read[i])
        return keys, values

    def ends_at(self, i: int) -> int:
        """Tokens of a text, what was known included."""
        return self.starts[i] + self.lengths[i]

    def _blocks(self, i: int) -> Iterator[Piece]:
        start, end = self.starts[i], self.ends_at(i)
        for first in range(start // BLOCK * BLOCK, end, BLOCK):
            low, high = max(first, start), min(first + BLOCK, end)
            yield Piece(i, high - low, first + BLOCK, n_before=low - first, n_after=first + BLOCK - high)
