"""Attention to some of the tokens that a row sees, and to two such parts together; and what our caches share."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from transformers.cache_utils import Cache

FUSED = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
"""Attention in one pass over keys and values; it also tells the logarithm of the sum of all weights."""
SMALLEST_PRODUCT = 400
"""Multiplications of one of many products, below which PyTorch takes a routine of its own, and rounds otherwise."""


class Part(NamedTuple):
    """What rows take from some of the tokens they see. These weigh exp(score) / weight beside others."""

    taken: torch.Tensor
    """(row, 1, head, width), the weights of these tokens adding up to 1."""
    score: torch.Tensor
    """(row, 1, head, 1): the highest of a token, with its weight; or of all of them, with weight 1."""
    weight: torch.Tensor


def joined(first: Part, *others: Part) -> torch.Tensor:
    """From all parts together.

    The softmax of a few numbers is computed row by row; an exponential of all numbers at once would round
    the last of them otherwise, and a row's bits would depend on its neighbours.
    """
    if not others:
        return first.taken
    parts = (first, *others)
    scores = torch.softmax(torch.stack([part.score for part in parts], -1), -1, dtype=torch.float32)
    weights = [score / part.weight for score, part in zip(scores.unbind(-1), parts, strict=True)]
    whole = sum(weights[1:], weights[0])
    shares = [weight / whole * part.taken for weight, part in zip(weights, parts, strict=True)]
    return sum(shares[1:], shares[0]).to(first.taken.dtype)


def attend_grouped(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    unseen: torch.Tensor | None,
    softcap: float | None,
    least_rows: int,
) -> Part:
    """From (slot, group, token, width), for as many rows of each slot: (slot, group, row, …)."""
    n_rows = query.shape[2]
    least_rows = max(least_rows, -(-SMALLEST_PRODUCT // (keys.shape[2] * keys.shape[3])))
    # Two products: for a few rows of many slots they are faster than the fused routine.
    scores = capped(torch.matmul(padded(query, least_rows, 2), keys.transpose(2, 3)), softcap)
    scores = scores if unseen is None else scores + unseen
    exact = torch.softmax(scores, -1, dtype=torch.float32)
    taken = torch.matmul(exact.to(query.dtype), values)
    return Part(*(part[:, :, :n_rows] for part in (taken, *(each.amax(-1, keepdim=True) for each in (scores, exact)))))


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
