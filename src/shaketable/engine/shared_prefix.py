"""One prompt's keys and values, kept once for all rows that continue it.

Plugs into transformers through its attention interface and cache class, so any causal model of
that library with ordinary attention works. A decode step attends to a prompt as one matrix product for
all of its rows, and to each row's own few tokens. What many prompts begin with, such as worked
examples, is attended to as one product for the rows of all of them, and their short rests are kept row
by row in pools, where one call serves all.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple, TypedDict, Unpack

import torch
from transformers import AttentionInterface, AttentionMaskInterface, DynamicCache
from transformers.cache_utils import Cache
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from shaketable.engine.attention_parts import Part, capped, joined, padded
from shaketable.engine.row_pool import FIXED_ROWS, RowPool, RowPools
from shaketable.engine.side_by_side import Opening, SideBySide, plain
from shaketable.engine.strip import Strip
from shaketable.engine.token_trees import TokenTrees

NAME = "shaketable_shared_prefix"
MASKLESS = "shaketable_maskless"
"""The same where every pass is one of ours: no mask is made, which would ask the device and wait for its answer."""
ROOM = 32
"""Own tokens are kept in blocks of this many."""


class ReadPrompt(NamedTuple):
    cache: DynamicCache
    """Of what follows the opening."""
    opening: Opening | None
    """What it begins with, if that is kept for other prompts too."""

    @property
    def length(self) -> int:
        return int(self.cache.get_seq_length()) + (self.opening.length if self.opening else 0)

    def rest(self) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        """Keys and values of each layer after the opening, (head, token, width)."""
        return [layer.keys[0] for layer in self.cache.layers], [layer.values[0] for layer in self.cache.layers]

    def whole(self) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        """Keys and values of each layer, the opening included."""
        keys, values = self.rest()
        if self.opening:
            keys = [torch.cat(both, 1) for both in zip(self.opening.keys, keys, strict=True)]
            values = [torch.cat(both, 1) for both in zip(self.opening.values, values, strict=True)]
        return [layer.contiguous() for layer in keys], [layer.contiguous() for layer in values]


class Prefix:
    """A prompt that was read, and the own tokens of the rows that continue it."""

    def __init__(self, prompt: ReadPrompt, n_rows: int) -> None:
        self.prompt_length = prompt.length
        self.prompt_keys, self.prompt_values = prompt.whole()
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

    def keep(self, rows: Sequence[int]) -> None:
        """Drop the rows that are not listed."""
        self.n_rows = len(rows)
        chosen = torch.tensor(rows, dtype=torch.int64, device=self.own_keys[0].device)
        for own in (self.own_keys, self.own_values):
            for layer, tensor in enumerate(own):
                own[layer] = tensor.index_select(0, chosen)


def _own(n_rows: int, like: torch.Tensor) -> torch.Tensor:
    heads, _, width = like.shape
    return like.new_empty((n_rows, heads, ROOM, width))


class PooledPrefix:
    """A prompt that was read. What follows its opening is kept for each row, before the row's own tokens, so that rows
    of many prompts attend together; so is all of it where there is no opening, or none is wanted."""

    def __init__(self, prompt: ReadPrompt, n_rows: int, pools: RowPools, *, is_whole: bool = False) -> None:
        self.opening = None if is_whole else prompt.opening
        self.prompt_length = prompt.length
        """With the opening."""
        self.own_length = 0
        self.pools = pools
        kept = prompt.rest() if self.opening else prompt.whole()
        self.rows = [pools.add(*kept) for _ in range(n_rows)]

    @property
    def n_rows(self) -> int:
        return len(self.rows)

    def make_room(self) -> None:
        self.rows = [self.pools.make_room(row) for row in self.rows]

    def keep(self, rows: Sequence[int]) -> None:
        """Drop the rows that are not listed."""
        for row in set(range(self.n_rows)) - set(rows):
            self.rows[row].pool.remove(self.rows[row])
        self.rows = [self.rows[row] for row in rows]


class PrefixCache(Cache):  # type: ignore[misc]
    """What transformers sees: rows of several prefixes, one after the other."""

    def __init__(self, prefixes: Sequence[Prefix | PooledPrefix], least_rows: int = 1) -> None:
        self.prefixes, self.least_rows = prefixes, least_rows
        for prefix in prefixes:
            if isinstance(prefix, PooledPrefix):
                prefix.make_room()
        ends = itertools.accumulate(prefix.n_rows for prefix in prefixes)
        rows = [range(end - prefix.n_rows, end) for prefix, end in zip(prefixes, ends, strict=True)]
        self.shared = [(own, prefix) for own, prefix in zip(rows, prefixes, strict=True) if isinstance(prefix, Prefix)]
        self.pools, self.openings = _arranged(
            [(own, prefix) for own, prefix in zip(rows, prefixes, strict=True) if isinstance(prefix, PooledPrefix)]
        )
        self.layers: list[Any] = []
        self.layer_class_to_replicate = None
        self.offloading = False

    def update(
        self, keys: torch.Tensor, values: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        for own, prefix in self.shared:
            prefix.append(layer_idx, keys[own.start : own.stop], values[own.start : own.stop])
        for pooled in self.pools:
            pooled.pool.append(layer_idx, keys[pooled.rows, :, 0], values[pooled.rows, :, 0], pooled.lengths)
        return keys, values

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return max(prefix.prompt_length + prefix.own_length for prefix in self.prefixes)

    def get_mask_sizes(self, *args: Any, **kwargs: Any) -> tuple[int, int]:
        return self.get_seq_length() + 1, 0

    def finish_step(self) -> None:
        for prefix in self.prefixes:
            prefix.own_length += 1
        for pooled in self.pools:
            for row in pooled.pool.rows:
                row.length += 1

    def attend(
        self, layer: int, query: torch.Tensor, scaling: float, softcap: float | None, sliding_window: int | None
    ) -> torch.Tensor:
        query = query * scaling
        n_rows, n_heads = query.shape[:2]
        if not self.pools:
            taken = torch.cat([self._from_prefix(one, layer, query, softcap, sliding_window) for one in self.shared])
            return torch.nn.functional.pad(taken, (0, 0, 0, 0, 0, 0, 0, n_rows - taken.shape[0]))
        taken = query.new_zeros((n_rows, 1, n_heads, self.pools[0].pool.values[layer].shape[3]))
        for shared in self.shared:
            taken[shared[0].start : shared[0].stop] = self._from_prefix(shared, layer, query, softcap, sliding_window)
        rest = Part(taken, *(query.new_ones((n_rows, 1, n_heads, 1), dtype=torch.float32) for _ in range(2)))
        for one in self.pools:
            attended = one.pool.attend(layer, query[one.asking], one.unseen(sliding_window), softcap)
            for whole, part in zip(rest, attended, strict=True):
                whole[one.rows] = part[: len(one.rows)].to(whole.dtype)
        for opening, rows in self.openings:
            if self.pools[0].pool.is_fixed:  # The rows of the batch are always as many; idle ones stand at its end.
                taken[rows] = joined(_attend_opening(opening, layer, query, softcap, 1), rest)[rows]
            else:
                first = _attend_opening(opening, layer, query[rows], softcap, self.least_rows)
                taken[rows] = joined(first, Part(*(whole[rows] for whole in rest)))
        return taken

    def _from_prefix(
        self,
        one: tuple[range, Prefix],
        layer: int,
        query: torch.Tensor,
        softcap: float | None,
        sliding_window: int | None,
    ) -> torch.Tensor:
        own, prefix = one
        return _attend_prefix(prefix, layer, query[own.start : own.stop], softcap, sliding_window, self.least_rows)


class Pooled:
    """A pool in one step."""

    def __init__(self, pool: RowPool, rows: list[int]) -> None:
        """`rows` of the batch, by slot."""
        self.pool = pool
        device = pool.keys[0].device
        n_idle = FIXED_ROWS - len(rows) if pool.is_fixed else 0
        self.asking = torch.tensor([*rows, *rows[:1] * n_idle], device=device)
        """The same with idle slots, for which any row may ask."""
        self.rows = self.asking[: len(rows)]
        self.lengths = torch.tensor([row.length for row in pool.rows], device=device)
        self._padded = torch.nn.functional.pad(self.lengths, (0, n_idle))
        self._unseen: dict[int | None, torch.Tensor] = {}

    def unseen(self, window: int | None) -> torch.Tensor:
        if window not in self._unseen:
            self._unseen[window] = self.pool.unseen(self._padded, window)
        return self._unseen[window]


def _arranged(
    prefixes: Sequence[tuple[range, PooledPrefix]],
) -> tuple[list[Pooled], list[tuple[Opening, torch.Tensor]]]:
    """The pools, and the openings with their rows."""
    by_pool: dict[RowPool, dict[int, int]] = {}
    by_opening: dict[Opening, list[int]] = {}
    for own, prefix in prefixes:
        if prefix.opening:
            by_opening.setdefault(prefix.opening, []).extend(own)
        for number, row in zip(own, prefix.rows, strict=True):
            by_pool.setdefault(row.pool, {})[row.slot] = number

    pools = [Pooled(pool, [rows[slot] for slot in range(len(pool.rows))]) for pool, rows in by_pool.items()]
    openings = [(opening, torch.tensor(rows, device=opening.keys[0].device)) for opening, rows in by_opening.items()]
    return pools, openings


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


def _attend_prefix(
    prefix: Prefix,
    layer: int,
    query: torch.Tensor,
    softcap: float | None,
    sliding_window: int | None,
    least_rows: int,
) -> torch.Tensor:
    """What rows take from their prompt and from their own tokens, (row, 1, head, width)."""
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
    together = grouped.permute(1, 0, 2, 3).reshape(groups, n_rows * share, width)
    on_prompt = torch.bmm(padded(together, least_rows, 1), prompt_keys.transpose(1, 2))
    on_own = torch.matmul(grouped, own_keys.transpose(2, 3)).permute(1, 0, 2, 3).reshape(groups, -1, own_length)
    scores = capped(torch.cat([on_prompt, padded(on_own, least_rows, 1)], -1), softcap)
    weights = torch.softmax(scores, -1, dtype=torch.float32).to(query.dtype)
    from_prompt = torch.bmm(weights[..., :prompt_length], prompt_values)[:, : n_rows * share]
    own_weights = weights[:, : n_rows * share, prompt_length:]
    from_prompt = from_prompt.reshape(groups, n_rows, share, value_width).permute(1, 0, 2, 3)
    from_own = torch.matmul(own_weights.reshape(groups, n_rows, share, own_length).permute(1, 0, 2, 3), own_values)
    return (from_prompt + from_own).reshape(n_rows, 1, n_heads, value_width)


def _attend_opening(opening: Opening, layer: int, query: torch.Tensor, softcap: float | None, least_rows: int) -> Part:
    """From an opening, for the rows of all prompts that begin with it."""
    n_rows, n_heads, _, width = query.shape
    keys, values = opening.keys[layer], opening.values[layer]
    groups, share = keys.shape[0], n_heads // keys.shape[0]
    together = query.view(n_rows, groups, share, width).transpose(0, 1).reshape(groups, n_rows * share, width)
    scores = capped(torch.bmm(padded(together, least_rows, 1), keys.transpose(1, 2)), softcap)
    exact = torch.softmax(scores, -1, dtype=torch.float32)
    taken = torch.bmm(exact.to(query.dtype), values)

    def by_row(tensor: torch.Tensor) -> torch.Tensor:
        rows = tensor[:, : n_rows * share].reshape(groups, n_rows, share, -1)
        return rows.transpose(0, 1).reshape(n_rows, 1, n_heads, -1)

    return Part(by_row(taken), by_row(scores.amax(-1)), by_row(exact.amax(-1)))


AttentionInterface.register(NAME, attend)
AttentionMaskInterface.register(NAME, sdpa_mask)
AttentionInterface.register(MASKLESS, attend)
AttentionMaskInterface.register(MASKLESS, lambda *_, **__: None)
