"""One prompt's keys and values, kept once for all rows that continue it.

Plugs into transformers through its attention interface and cache class, so any causal model of
that library with ordinary attention works. A decode step of many rows attends to three parts: what several
prompts begin with, such as worked examples, as one matrix product for all their rows; the rest of
each prompt, as one for all of its rows; and each row's own few tokens. Nothing of a prompt is
copied per row or per step.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from transformers import AttentionInterface, AttentionMaskInterface, DynamicCache
from transformers.cache_utils import Cache
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from shaketable.models.token_trees import TokenTrees

NAME = "shaketable_shared_prefix"
ROOM = 32
"""Own tokens are kept in blocks of this many."""


class Opening:
    """What several prompts begin with: keys and values of each layer, (head, token, width)."""

    def __init__(self, cache: DynamicCache) -> None:
        self.length = int(cache.get_seq_length())
        self.keys = [layer.keys[0] for layer in cache.layers]
        self.values = [layer.values[0] for layer in cache.layers]


class Prefix:
    """A prompt that was read, and the own tokens of the rows that continue it."""

    def __init__(self, prompt_cache: DynamicCache, n_rows: int, opening: Opening | None = None) -> None:
        self.opening = opening
        """The first tokens of the prompt, kept there alone."""
        self.prompt_length = int(prompt_cache.get_seq_length())
        """With the opening."""
        kept = slice(opening.length if opening else 0, None)
        self.prompt_keys = [layer.keys[0, :, kept].contiguous() for layer in prompt_cache.layers]
        self.prompt_values = [layer.values[0, :, kept].contiguous() for layer in prompt_cache.layers]
        self.n_rows = n_rows
        self.own_length = 0
        self.own_keys = [_own(n_rows, keys) for keys in self.prompt_keys]
        self.own_values = [_own(n_rows, values) for values in self.prompt_values]

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


class Part(NamedTuple):
    """What rows take from some of the tokens they see."""

    taken: torch.Tensor
    """(row, 1, head, width), the weights of these tokens adding up to 1."""
    top_score: torch.Tensor
    """The highest score of a token, (group, row and head of the group)."""
    top_weight: torch.Tensor
    """The weight of that token."""


class PrefixCache(Cache):  # type: ignore[misc]
    """What transformers sees: rows of several prefixes, one after the other."""

    def __init__(self, prefixes: Sequence[Prefix]) -> None:
        self.prefixes = prefixes
        self.openings = _by_opening(prefixes)
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
        self, layer: int, query: torch.Tensor, scaling: float, softcap: float | None, sliding_window: int | None
    ) -> torch.Tensor:
        query = query * scaling
        parts = query.split([prefix.n_rows for prefix in self.prefixes])
        found = [
            _attend_prefix(prefix, layer, part, softcap, sliding_window)
            for prefix, part in zip(self.prefixes, parts, strict=True)
        ]
        output = torch.cat([part.taken for part in found])
        for opening, places, rows in self.openings:
            first = _attend_opening(opening, layer, query[rows], softcap)
            rest = Part(
                output[rows],
                torch.cat([found[place].top_score for place in places], 1),
                torch.cat([found[place].top_weight for place in places], 1),
            )
            output[rows] = _joined(first, rest)
        return output


def attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    shared: PrefixCache | TokenTrees | None = None,
    scaling: float | None = None,
    softcap: float | None = None,
    sliding_window: int | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """One softmax over prompt and own tokens for each row; plain attention when no prefix is given."""
    if shared is None:
        return _read_prompt(module, query, key, value, attention_mask, scaling, softcap, **kwargs)
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    return shared.attend(int(module.layer_idx), query, scaling, softcap, sliding_window), None  # type: ignore[arg-type]


def _attend_prefix(
    prefix: Prefix, layer: int, query: torch.Tensor, softcap: float | None, sliding_window: int | None
) -> Part:
    """From the rest of their prompt and from their own tokens."""
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
    scores = _capped(torch.cat([on_prompt, on_own], -1), softcap)
    exact = torch.softmax(scores, -1, dtype=torch.float32)
    weights = exact.to(query.dtype)
    from_prompt = torch.bmm(weights[..., :prompt_length], prompt_values)
    own_weights = weights[..., prompt_length:]
    if lone:
        from_prompt, own_weights = from_prompt[:, :1], own_weights[:, :1]
    from_prompt = from_prompt.view(groups, n_rows, share, value_width).permute(1, 0, 2, 3)
    from_own = torch.matmul(own_weights.view(groups, n_rows, share, own_length).permute(1, 0, 2, 3), own_values)
    taken = (from_prompt + from_own).reshape(n_rows, 1, n_heads, value_width)
    if prefix.opening is None:
        return Part(taken, scores, exact)  # Nothing is joined to it.
    return Part(taken, scores[:, : n_rows * share].amax(-1), exact[:, : n_rows * share].amax(-1))


def _attend_opening(opening: Opening, layer: int, query: torch.Tensor, softcap: float | None) -> Part:
    """From an opening, for the rows of all prompts that begin with it."""
    n_rows, n_heads, _, width = query.shape
    keys, values = opening.keys[layer], opening.values[layer]
    groups, share = keys.shape[0], n_heads // keys.shape[0]
    together = query.view(n_rows, groups, share, width).transpose(0, 1).reshape(groups, n_rows * share, width)
    together = together.expand(-1, 2, -1) if n_rows * share == 1 else together
    scores = _capped(torch.bmm(together, keys.transpose(1, 2)), softcap)
    exact = torch.softmax(scores, -1, dtype=torch.float32)
    taken = torch.bmm(exact.to(query.dtype), values)[:, : n_rows * share]
    taken = taken.reshape(groups, n_rows, share, -1).transpose(0, 1).reshape(n_rows, 1, n_heads, -1)
    return Part(taken, scores[:, : n_rows * share].amax(-1), exact[:, : n_rows * share].amax(-1))


def _joined(one: Part, other: Part) -> torch.Tensor:
    """From both together. The tokens of a part weigh exp(top score) / top weight.

    The softmax of a pair is computed pair by pair; an exponential of all numbers at once would round
    the last of them otherwise, and a row's bits would depend on its neighbours.
    """
    tops = torch.softmax(torch.stack([one.top_score, other.top_score], -1), -1, dtype=torch.float32)
    weight, other_weight = tops[..., 0] / one.top_weight, tops[..., 1] / other.top_weight
    share = weight / (weight + other_weight)
    n_rows = one.taken.shape[0]
    share = share.view(len(share), n_rows, -1).transpose(0, 1).reshape(n_rows, 1, -1, 1)
    joined: torch.Tensor = share * one.taken + (1 - share) * other.taken
    return joined.to(one.taken.dtype)


def _capped(scores: torch.Tensor, softcap: float | None) -> torch.Tensor:
    return scores if softcap is None else torch.tanh(scores / softcap) * softcap


def _by_opening(prefixes: Sequence[Prefix]) -> list[tuple[Opening, list[int], torch.Tensor]]:
    """Each opening with the places of its prefixes and their rows."""
    places: dict[Opening, list[int]] = {}
    for place, prefix in enumerate(prefixes):
        if prefix.opening:
            places.setdefault(prefix.opening, []).append(place)
    ends = list(itertools.accumulate(prefix.n_rows for prefix in prefixes))
    return [
        (
            opening,
            own,
            torch.tensor(
                [row for place in own for row in range(ends[place] - prefixes[place].n_rows, ends[place])],
                device=opening.keys[0].device,
            ),
        )
        for opening, own in places.items()
    ]


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
