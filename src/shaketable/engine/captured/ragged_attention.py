"""Attention of many tokens at once, each of which sees up to three segments of the strip of keys and values.

What a token takes depends on its own segments alone, never on how many others are computed beside it, nor on theirs:
on a GPU by a kernel with a loop per token, elsewhere token by token with the same formula, for tests.
"""

from __future__ import annotations

import functools
import importlib.util

import torch

from shaketable.engine.attention_parts import capped
from shaketable.engine.captured.seen import Scoring, Seen


@functools.cache
def can_compile() -> bool:
    """Triton comes with the builds of PyTorch for GPUs."""
    return torch.cuda.is_available() and importlib.util.find_spec("triton") is not None


def attend_segments(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, seen: Seen, scoring: Scoring
) -> torch.Tensor:
    """query: (token, head, width); keys and values: (place, group, width) → (token, head, width of values)."""
    if query.is_cuda:
        from shaketable.engine.captured.ragged_kernel import attend_by_kernel

        return attend_by_kernel(query, keys, values, seen, scoring)
    attended = [
        _attend_one(one, keys, values, list(zip(starts, lengths, strict=True)), scoring)
        for one, starts, lengths in zip(query, seen.starts.tolist(), seen.lengths.tolist(), strict=True)
    ]
    return torch.stack(attended)


def _attend_one(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, segments: list[tuple[int, int]], scoring: Scoring
) -> torch.Tensor:
    """query: (head, width). A token that sees nothing takes zeros."""
    places = torch.cat([torch.arange(start, start + length) for start, length in segments])
    places = places[-scoring.window :] if scoring.window else places
    if not len(places):
        return query.new_zeros((query.shape[0], values.shape[2]))
    share = query.shape[0] // keys.shape[1]
    own_keys, own_values = (kept[places].transpose(0, 1).repeat_interleave(share, 0) for kept in (keys, values))
    scores = capped((own_keys @ query[:, :, None])[..., 0] * scoring.scaling, scoring.softcap)
    weights = torch.softmax(scores, -1, dtype=torch.float32).to(query.dtype)
    return (weights[:, None] @ own_values)[:, 0]
