"""One prompt's keys and values, kept once for all rows that continue it.

Plugs into transformers through its attention interface and cache class, so any causal model of
that library with ordinary attention works. A decode step of many rows attends to two parts: the
prompt's keys, as one matrix product for all rows of a prompt, and each row's own few tokens.
Nothing of the prompt is copied per row or per step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface, DynamicCache
from transformers.cache_utils import Cache
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

NAME = "shaketable_shared_prefix"
ROOM = 32
"""Own tokens are kept in blocks of this many."""


class Prefix:
    """A prompt that was read, and the own tokens of the rows that continue it."""

    def __init__(self, prompt_cache: DynamicCache, n_rows: int) -> None:
        self.prompt_length = int(prompt_cache.get_seq_length())
        self.prompt_keys = [layer.keys[0].contiguous() for layer in prompt_cache.layers]
        self.prompt_values = [layer.values[0].contiguous() for layer in prompt_cache.layers]
        self.n_rows = n_rows
        self.own_length = 0
        self.own_keys = [_own(n_rows, keys) for keys in self.prompt_keys]
        self.own_values = [_own(n_rows, values) for values in self.prompt_values]

    def branch(self, own: torch.Tensor, own_length: int) -> Prefix:
        """The same prompt with other rows. `own`: (row, keys or values, layer, head, token, width), with room for one
        token after the first `own_length`, which is written into it."""
        branched = object.__new__(Prefix)
        branched.prompt_length = self.prompt_length
        branched.prompt_keys, branched.prompt_values = self.prompt_keys, self.prompt_values
        branched.n_rows, branched.own_length = own.shape[0], own_length
        branched.own_keys = list(own[:, 0].unbind(1))
        branched.own_values = list(own[:, 1].unbind(1))
        return branched

    def append(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> None:
        """Keep one new token per row; `own_length` moves on once all layers have it."""
        if self.own_length == self.own_keys[layer].shape[2]:
            for own in (self.own_keys, self.own_values):
                own[layer] = torch.nn.functional.pad(own[layer], (0, 0, 0, ROOM))
        self.own_keys[layer][:, :, self.own_length] = keys[:, :, 0]
        self.own_values[layer][:, :, self.own_length] = values[:, :, 0]

    def keep(self, rows: torch.Tensor) -> None:
        """Drop the rows that are not listed."""
        self.n_rows = len(rows)
        for own in (self.own_keys, self.own_values):
            for layer, tensor in enumerate(own):
                own[layer] = tensor.index_select(0, rows)


def _own(n_rows: int, like: torch.Tensor) -> torch.Tensor:
    heads, _, width = like.shape
    return like.new_empty((n_rows, heads, ROOM, width))


class PrefixCache(Cache):  # type: ignore[misc]
    """What transformers sees: rows of several prefixes, one after the other."""

    def __init__(self, prefixes: Sequence[Prefix]) -> None:
        self.prefixes = prefixes
        self.layers: list[Any] = []
        self.layer_class_to_replicate = None
        self.offloading = False

    def update(
        self, keys: torch.Tensor, values: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        start = 0
        for prefix in self.prefixes:
            end = start + prefix.n_rows
            prefix.append(layer_idx, keys[start:end], values[start:end])
            start = end
        return keys, values

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return max(prefix.prompt_length + prefix.own_length for prefix in self.prefixes)

    def get_mask_sizes(self, *args: Any, **kwargs: Any) -> tuple[int, int]:
        return self.get_seq_length() + 1, 0

    def finish_step(self) -> None:
        for prefix in self.prefixes:
            prefix.own_length += 1


def attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    shared: PrefixCache | None = None,
    scaling: float | None = None,
    softcap: float | None = None,
    sliding_window: int | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """One softmax over prompt and own tokens for each row; plain attention when no prefix is given."""
    if shared is None:
        return _read_prompt(module, query, key, value, attention_mask, scaling, softcap, **kwargs)
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    layer = int(module.layer_idx)  # type: ignore[arg-type]
    outputs, start = [], 0
    for prefix in shared.prefixes:
        end = start + prefix.n_rows
        outputs.append(_attend_prefix(prefix, layer, query[start:end], scaling, softcap, sliding_window))
        start = end
    return torch.cat(outputs), None


def _attend_prefix(
    prefix: Prefix, layer: int, query: torch.Tensor, scaling: float, softcap: float | None, sliding_window: int | None
) -> torch.Tensor:
    n_rows, n_heads, _, width = query.shape
    end = prefix.own_length + 1
    # All rows of a prefix stand at the same position, so a window cuts the same tokens for all.
    hidden = max(0, prefix.prompt_length + end - sliding_window) if sliding_window else 0
    own_hidden = max(0, hidden - prefix.prompt_length)
    prompt_keys, prompt_values = prefix.prompt_keys[layer][:, hidden:], prefix.prompt_values[layer][:, hidden:]
    own_keys = prefix.own_keys[layer][:, :, own_hidden:end]
    own_values = prefix.own_values[layer][:, :, own_hidden:end]
    own_length = end - own_hidden
    groups, prompt_length, value_width = prompt_values.shape
    share = n_heads // groups

    grouped = query.view(n_rows, groups, share, width)
    # A single row would go to a matrix-vector routine that rounds otherwise; two never do.
    together = grouped.permute(1, 0, 2, 3).reshape(groups, n_rows * share, width)
    lone = together.shape[1] == 1
    together = together.expand(-1, 2, -1) if lone else together
    on_prompt = torch.bmm(together, prompt_keys.transpose(1, 2))
    on_own = torch.matmul(grouped, own_keys.transpose(2, 3)).permute(1, 0, 2, 3).reshape(groups, -1, own_length)
    on_own = on_own.expand(-1, 2, -1) if lone else on_own
    weights = torch.cat([on_prompt, on_own], -1) * scaling
    if softcap is not None:
        weights = torch.tanh(weights / softcap) * softcap
    weights = torch.softmax(weights, -1)
    from_prompt = torch.bmm(weights[..., :prompt_length], prompt_values)
    own_weights = weights[..., prompt_length:]
    if lone:
        from_prompt, own_weights = from_prompt[:, :1], own_weights[:, :1]
    from_prompt = from_prompt.view(groups, n_rows, share, value_width).permute(1, 0, 2, 3)
    from_own = torch.matmul(own_weights.view(groups, n_rows, share, own_length).permute(1, 0, 2, 3), own_values)
    return (from_prompt + from_own).reshape(n_rows, 1, n_heads, value_width)


def _read_prompt(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None,
    scaling: float | None,
    softcap: float | None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """The library's own attention while a prompt is read; it has no fused routine with a soft cap."""
    if softcap is None:
        output, _ = sdpa_attention_forward(module, query, key, value, mask, scaling=scaling, **kwargs)
        return output, None
    share = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(share, 1), value.repeat_interleave(share, 1)
    weights = query @ key.transpose(2, 3) * (query.shape[-1] ** -0.5 if scaling is None else scaling)
    weights = torch.tanh(weights / softcap) * softcap
    n_queries, n_keys = weights.shape[-2:]
    seen = torch.ones(n_queries, n_keys, dtype=torch.bool, device=weights.device).tril(n_keys - n_queries)
    seen = seen if mask is None else mask.bool() if mask.dtype == torch.bool else mask == 0
    weights = torch.softmax(weights.masked_fill(~seen, -torch.inf), -1, dtype=torch.float32).to(query.dtype)
    return (weights @ value).transpose(1, 2).contiguous(), None


AttentionInterface.register(NAME, attend)
AttentionMaskInterface.register(NAME, sdpa_mask)
