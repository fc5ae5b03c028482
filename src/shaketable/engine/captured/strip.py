"""Keys and values of all tokens that are seen, of every layer, in one strip that passes of any shape extend."""

from __future__ import annotations

from typing import Any

import torch

from shaketable.engine.attention_parts import OneRowCache
from shaketable.engine.captured.ragged_attention import attend_segments
from shaketable.engine.captured.seen import Scoring, Seen


class Strip(OneRowCache):
    """What transformers sees of it: a cache, and through `shared_prefix` an attention, of tokens in one row."""

    def __init__(self, n_places: int) -> None:
        self.n_places = n_places
        self.keys: list[torch.Tensor] = []
        """Of each layer: (place, group, width)."""
        self.values: list[torch.Tensor] = []
        super().__init__()

    def expect(self, places: torch.Tensor, seen: Seen) -> None:
        """Arrange the next pass: where each of its tokens goes, and what it sees, itself included."""
        self.places, self.seen = places, seen

    def update(
        self, keys: torch.Tensor, values: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        for layers, new in ((self.keys, keys[0].transpose(0, 1)), (self.values, values[0].transpose(0, 1))):
            if layer_idx == len(layers):
                layers.append(new.new_zeros((self.n_places, *new.shape[1:])))
            layers[layer_idx].index_copy_(0, self.places, new)
        return keys, values

    def attend(
        self, layer: int, query: torch.Tensor, scaling: float, softcap: float | None, sliding_window: int | None
    ) -> torch.Tensor:
        scoring = Scoring(scaling=scaling, softcap=softcap, window=sliding_window)
        by_token = query[0].transpose(0, 1)
        return attend_segments(by_token, self.keys[layer], self.values[layer], self.seen, scoring)[None]

    def grow(self, n_places: int) -> None:
        """Layer by layer, so that no more than one is there twice."""
        more = n_places - self.n_places
        for layers in (self.keys, self.values):
            for layer, kept in enumerate(layers):
                layers[layer] = torch.nn.functional.pad(kept, (0, 0, 0, 0, 0, more))
        self.n_places = n_places
