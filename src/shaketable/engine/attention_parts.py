"""Attention to some of the tokens that a row sees, and to two such parts together; and what our caches share."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from transformers.cache_utils import Cache

FUSED = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
"""Attention in one pass over keys and values; it also tells the logarithm of the sum of all weights."""


class Part(NamedTuple):
    """What rows take from some of the tokens they see. These weigh exp(score) / weight beside others."""

    taken: torch.Tensor
    """(row, 1, head, width), the weights of these tokens adding up to 1."""
    score: torch.Tensor
    """(row, 1, head, 1): the highest of a token, with its weight; or of all of them, with weight 1."""
    weight: torch.Tensor


def joined(first: Part, other: Part) -> torch.Tensor:
    """From both together.

    The softmax of a pair is computed pair by pair; an exponential of all numbers at once would round
    the last of them otherwise, and a row's bits would depend on its neighbours.
    """
    pairs = torch.softmax(torch.stack([first.score, other.score], -1), -1, dtype=torch.float32)
    weight, other_weight = pairs[..., 0] / first.weight, pairs[..., 1] / other.weight
    share = weight / (weight + other_weight)
    both: torch.Tensor = share * first.taken + (1 - share) * other.taken
    return both.to(first.taken.dtype)


def can_fuse(query: torch.Tensor, values: torch.Tensor, softcap: float | None) -> bool:
    return query.device.type == "cpu" and softcap is None and values.shape[-1] == query.shape[-1]


def padded(rows: torch.Tensor, n: int, dim: int) -> torch.Tensor:
    """At least so many rows, the first of them again and again: routines for few rows round otherwise."""
    n_idle = n - rows.shape[dim]
    if n_idle <= 0:
        return rows
    idle = rows.narrow(dim, 0, 1)
    return torch.cat([rows, idle.expand([n_idle if i == dim % rows.dim() else -1 for i in range(rows.dim())])], dim)


def capped(scores: torch.Tensor, softcap: float | None) -> torch.Tensor:
    return scores if softcap is None else torch.tanh(scores / softcap) * softcap


class OneRowCache(Cache):  # type: ignore[misc]
    """What transformers asks of a cache while new tokens stand in one row, each at its own position."""

    def __init__(self) -> None:
        self.layers: list[Any] = []
        self.layer_class_to_replicate = None
        self.offloading = False

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return 0

    def get_mask_sizes(self, query_length: int, layer_idx: int) -> tuple[int, int]:
        return query_length, 0
