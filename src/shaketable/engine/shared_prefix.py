"""Prompts' keys and values, kept once for all rows that continue them.

Plugs into transformers through its attention interface and cache class, so any causal model of
that library with ordinary attention works. In a decode step rows take from three parts: what many prompts begin with,
such as worked examples, as one product for the rows of all of them; what follows in each prompt, where one call serves
many prompts; and their own few tokens, where one call serves all rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.cache_utils import Cache
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from shaketable.engine.attention_parts import Part, attend_grouped, joined, padded
from shaketable.engine.captured.strip import Strip
from shaketable.engine.pool_calls import PoolCalls
from shaketable.engine.pool_runs import CALL_OF_PROMPTS, Asked, FixedCall
from shaketable.engine.prefix import Prefix
from shaketable.engine.row_pool import rounded_up
from shaketable.engine.side_by_side import Opening, SideBySide, plain
from shaketable.engine.token_trees import TokenTrees

NAME = "shaketable_shared_prefix"
MASKLESS = "shaketable_maskless"
"""The same where every pass is one of ours: no mask is made, which would ask the device and wait for its answer."""


class PrefixCache(Cache):  # type: ignore[misc]
    """What transformers sees: rows of several prefixes, one after the other."""

    def __init__(self, prefixes: Sequence[Prefix], n_rows: int, least_rows: int = 1) -> None:
        """`n_rows` of the batch: those of the prefixes, and idle ones."""
        self.prefixes, self.least_rows = prefixes, least_rows
        for prefix in prefixes:
            prefix.make_room()
        ends = itertools.accumulate(prefix.n_rows for prefix in prefixes)
        rows = [range(end - prefix.n_rows, end) for prefix, end in zip(prefixes, ends, strict=True)]
        placed = list(zip(rows, prefixes, strict=True))
        self.is_fixed, self.product_rows = prefixes[0].pools.is_fixed, prefixes[0].pools.product_rows
        own, for_prompts = (FixedCall(self.product_rows, 1), CALL_OF_PROMPTS) if self.product_rows else (None, None)
        self.own = PoolCalls(_own_tokens(placed), n_rows, 1, own)
        """Shapes are the same for every row here, whatever their number."""
        self.prompts = PoolCalls(prompts, n_rows, least_rows, for_prompts) if (prompts := _prompts(placed)) else None
        self.openings = _openings(placed)
        self.layers: list[Any] = []
        self.layer_class_to_replicate = None
        self.offloading = False

    def update(
        self, keys: torch.Tensor, values: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        for call in self.own.calls:
            rows, newest = call.asking[: call.n_live], call.newest[: call.n_live]
            call.pool.append(layer_idx, keys[rows, :, 0], values[rows, :, 0], newest, call.slots.start)
        return keys, values

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return max(prefix.prompt_length + prefix.own_length for prefix in self.prefixes)

    def get_mask_sizes(self, *args: Any, **kwargs: Any) -> tuple[int, int]:
        return self.get_seq_length() + 1, 0

    def finish_step(self) -> None:
        for prefix in self.prefixes:
            prefix.own_length += 1
            for row in prefix.rows:
                row.length += 1

    def attend(
        self, layer: int, query: torch.Tensor, scaling: float, softcap: float | None, sliding_window: int | None
    ) -> torch.Tensor:
        query = query * scaling
        parts = [calls.attend(layer, query, softcap, sliding_window) for calls in (self.own, self.prompts) if calls]
        taken = joined(*parts)
        for opening, rows in self.openings:
            if self.is_fixed:  # The rows of the batch are always as many; idle ones stand at its end.
                taken[rows] = joined(_attend_opening(opening, layer, query, softcap, 1), *parts)[rows]
            else:
                first = self._attend_opening(opening, layer, query[rows], softcap)
                taken[rows] = joined(first, *(Part(*(tensor[rows] for tensor in part)) for part in parts))
        return taken

    def _attend_opening(self, opening: Opening, layer: int, query: torch.Tensor, softcap: float | None) -> Part:
        if not self.product_rows:
            return _attend_opening(opening, layer, query, softcap, self.least_rows)
        n_rows = len(query)
        pieces = torch.split(padded(query, rounded_up(n_rows, self.product_rows), 0), self.product_rows)
        parts = [_attend_opening(opening, layer, piece, softcap, self.least_rows) for piece in pieces]
        return Part(*(torch.cat(same)[:n_rows] for same in zip(*parts, strict=True)))


def _own_tokens(placed: Sequence[tuple[range, Prefix]]) -> list[Asked]:
    """Each row's own tokens, and its prompt where it keeps that itself."""
    return [
        Asked(row, [number], newest=row.length, position=row.length)
        for numbers, prefix in placed
        for number, row in zip(numbers, prefix.rows, strict=True)
    ]


def _prompts(placed: Sequence[tuple[range, Prefix]]) -> list[Asked]:
    return [
        Asked(prefix.prompt, rows, newest=prefix.prompt.length - 1, position=prefix.prompt.length + prefix.own_length)
        for rows, prefix in placed
        if prefix.prompt
    ]


def _openings(placed: Sequence[tuple[range, Prefix]]) -> list[tuple[Opening, torch.Tensor]]:
    """Each with the rows that go on from it."""
    by_opening: dict[Opening, list[int]] = {}
    for rows, prefix in placed:
        if prefix.opening:
            by_opening.setdefault(prefix.opening, []).extend(rows)
    return [(opening, torch.tensor(rows, device=opening.keys[0].device)) for opening, rows in by_opening.items()]


def _attend_opening(opening: Opening, layer: int, query: torch.Tensor, softcap: float | None, least_rows: int) -> Part:
    """From an opening, for the rows of all prompts that begin with it."""
    n_rows, n_heads, _, width = query.shape
    keys, values = opening.keys[layer][None], opening.values[layer][None]
    groups, share = keys.shape[1], n_heads // keys.shape[1]
    together = query.view(n_rows, groups, share, width).transpose(0, 1).reshape(1, groups, n_rows * share, width)
    attended = attend_grouped(together, keys, values, None, softcap, least_rows)
    by_row = (part[0].reshape(groups, n_rows, share, -1).transpose(0, 1) for part in attended)
    return Part(*(part.reshape(n_rows, 1, n_heads, -1) for part in by_row))


class Attending(TypedDict, total=False):
    """What a model's layers tell their attention by name, among other things."""

    shared: PrefixCache | SideBySide | TokenTrees | Strip | None
    scaling: float | None
    softcap: float | None
    sliding_window: int | None


def attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    **named: Unpack[Attending],
) -> tuple[torch.Tensor, None]:
    """What rows see that share something; the library's own attention when nothing is shared."""
    shared, softcap = named.pop("shared", None), named.pop("softcap", None)
    sliding_window = named.pop("sliding_window", None)
    if shared is None and softcap is None:
        output, _ = sdpa_attention_forward(module, query, key, value, attention_mask, **named)
        return output, None
    scaling = named.get("scaling")
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    if shared is None:  # The library has no fused routine with a soft cap.
        return plain(query, key, value, scaling, softcap, sliding_window)[0].transpose(1, 2).contiguous(), None
    return shared.attend(int(module.layer_idx), query, scaling, softcap, sliding_window), None  # type: ignore[arg-type]


AttentionInterface.register(NAME, attend)
AttentionMaskInterface.register(NAME, sdpa_mask)
AttentionInterface.register(MASKLESS, attend)
AttentionMaskInterface.register(MASKLESS, lambda *_, **__: None)
