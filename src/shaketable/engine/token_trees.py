"""Keys and values of many trees of tokens, each a prompt with the beginnings of answers that follow it.

New tokens of all trees are computed in one pass, as one row of tokens, each at its own position. They attend
through `shared_prefix`'s interface, all at once: a token sees those of its tree that it continues. Every token
is kept once, whatever grows from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from shaketable.engine.attention_parts import OneRowCache, capped

ROOM = 32
"""Places are made in blocks of this many."""
_NEVER = 1 << 30
"""The age of a token that is not seen."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    id: int
    tree: int
    n_prompt: int
    """It continues the first so many tokens of the prompt, itself included ..."""
    path: tuple[int, ...] = ()
    """... and the tokens of an answer at these places of the tree, itself the last."""

    @property
    def slot(self) -> int:
        return self.path[-1] if self.path else self.n_prompt - 1

    @property
    def position(self) -> int:
        return self.n_prompt + len(self.path) - 1


class TokenTrees(OneRowCache):
    def __init__(self) -> None:
        self.keys: list[torch.Tensor] = []
        """Of each layer: (tree, head, place, width)."""
        self.values: list[torch.Tensor] = []
        super().__init__()

    def copy(self, sources: Sequence[int], trees: Sequence[int], n_places: int) -> None:
        """Let trees begin like others; what differs among the first places is read afterwards."""
        for layers in (self.keys, self.values):
            for layer, kept in enumerate(layers):
                layers[layer] = _with_room(kept, max(trees) + 1, n_places)
                layers[layer][list(trees), :, :n_places] = layers[layer][list(sources), :, :n_places]

    def expect(self, tokens: Sequence[Token], device: str) -> None:
        """Arrange the next pass, over these tokens: a grid of trees and their rows, filled up with the first token."""
        numbers: dict[int, list[int]] = {}
        for number, token in enumerate(tokens):
            numbers.setdefault(token.tree, []).append(number)
        n_rows, n_places = max(map(len, numbers.values())), max(token.slot for token in tokens) + 1
        # A slice copies nothing, so a few trees that nothing is asked of are taken along.
        among = range(min(numbers), max(numbers) + 1)
        trees = among if len(among) < 2 * len(numbers) else sorted(numbers)
        self.asked = slice(among.start, among.stop) if trees is among else trees
        self.needed = among.stop, n_places
        grid = np.zeros((len(trees), n_rows), dtype=np.int64)
        cells = np.zeros(len(tokens), dtype=np.int64)
        ages = np.full((len(trees), n_rows, n_places), _NEVER, dtype=np.int32)
        for line, tree in enumerate(trees):
            for row, number in enumerate(numbers.get(tree, ())):
                token = tokens[number]
                grid[line, row], cells[number] = number, line * n_rows + row
                ages[line, row, : token.n_prompt] = np.arange(token.position, token.position - token.n_prompt, -1)
                ages[line, row, list(token.path)] = np.arange(len(token.path) - 1, -1, -1)
        self.grid, self.cells, self.ages = (torch.tensor(array, device=device) for array in (grid, cells, ages))
        """Which token stands where, where each token stands, and how many positions back each one that it sees is."""
        self.trees = torch.tensor([token.tree for token in tokens], device=device)
        self.places = torch.tensor([token.slot for token in tokens], device=device)
        self._seen: dict[int, torch.Tensor] = {}

    def update(
        self, keys: torch.Tensor, values: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        for layers, new in ((self.keys, keys), (self.values, values)):
            if layer_idx == len(layers):
                layers.append(new.new_zeros((0, new.shape[1], 0, new.shape[3])))
            layers[layer_idx] = _with_room(layers[layer_idx], *self.needed)
            layers[layer_idx][self.trees, :, self.places] = new[0].transpose(0, 1)
        return keys, values

    def attend(
        self, layer: int, query: torch.Tensor, scaling: float, softcap: float | None, sliding_window: int | None
    ) -> torch.Tensor:
        n_places = self.ages.shape[2]
        keys, values = self.keys[layer][self.asked, :, :n_places], self.values[layer][self.asked, :, :n_places]
        n_trees, groups, _, width = keys.shape
        n_rows, share = self.grid.shape[1], query.shape[1] // groups
        window = sliding_window or _NEVER
        if window not in self._seen:
            self._seen[window] = (self.ages < window).repeat_interleave(share, 1)[:, None]
        seen = self._seen[window]
        rows = query[0].transpose(0, 1)[self.grid].view(n_trees, n_rows, groups, share, width)
        rows = rows.transpose(1, 2).reshape(n_trees, groups, n_rows * share, width)
        if softcap is None:
            attended = torch.nn.functional.scaled_dot_product_attention(
                rows, keys, values, attn_mask=seen, scale=scaling
            )
        else:  # The library has no fused routine for this.
            weights = capped(rows @ keys.transpose(2, 3) * scaling, softcap)
            attended = weights.masked_fill(~seen, torch.finfo(weights.dtype).min).softmax(-1) @ values
        attended = attended.view(n_trees, groups, n_rows, share, -1).transpose(1, 2)
        return attended.reshape(n_trees * n_rows, groups * share, -1)[self.cells][None]


def _with_room(kept: torch.Tensor, n_trees: int, n_places: int) -> torch.Tensor:
    """Empty places hold zeros: a weight of zero must not meet what is no number."""
    more_trees = max(0, n_trees - kept.shape[0])
    more_places = max(0, -(-n_places // ROOM) * ROOM - kept.shape[2])
    if not more_trees and not more_places:
        return kept
    return torch.nn.functional.pad(kept, (0, 0, 0, more_places, 0, 0, 0, more_trees))
