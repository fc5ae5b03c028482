"""Several texts read in one pass, as one row of tokens, each of which attends to its own text alone.

The matrices of a model are fetched once for all texts, which is most of the time of short ones. Each text attends in
a call of its own, of the shape that it would have alone; to what many of them begin with, all attend together.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import torch
from transformers import DynamicCache

from shaketable.engine.attention_parts import FUSED, OneRowCache, Part, can_fuse, capped, joined, padded
from shaketable.engine.row_pool import rounded_up

AT_ONCE = 512
"""Tokens of one pass; on a processor more gain nothing."""
AT_ONCE_ON_A_GPU = 8192

T = TypeVar("T")


def packs(items: Sequence[T], lengths: Sequence[int], device: str) -> Iterator[list[T]]:
    """What is read in one pass: neighbours while they have few tokens together."""
    at_once = AT_ONCE if device.startswith("cpu") else AT_ONCE_ON_A_GPU
    pack: list[T] = []
    n_tokens = 0
    for item, length in zip(items, lengths, strict=True):
        if pack and n_tokens + length > at_once:
            yield pack
            pack, n_tokens = [], 0
        pack.append(item)
        n_tokens += length
    if pack:
        yield pack


class Opening:
    """What several prompts begin with: keys and values of each layer, (head, token, width)."""

    def __init__(self, cache: DynamicCache) -> None:
        self.length = int(cache.get_seq_length())
        self.keys, self.values = layers_of(cache)


def layers_of(cache: DynamicCache) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Keys and values of each layer, (head, token, width)."""
    return [layer.keys[0] for layer in cache.layers], [layer.values[0] for layer in cache.layers]


class Piece(NamedTuple):
    """Tokens of a text that attend in one call."""

    text: int
    n_tokens: int
    n_keys: int
    """Of the text; the last of them are those of this call."""
    n_before: int = 0
    n_after: int = 0
    """Idle tokens around those that ask."""

    def asking(self, query: torch.Tensor) -> torch.Tensor:
        """(1, head, token, width), with idle tokens."""
        if not self.n_before and not self.n_after:
            return query
        return torch.nn.functional.pad(query, (0, 0, self.n_before, self.n_after))


class SideBySide(OneRowCache):
    def __init__(
        self,
        texts: Sequence[Sequence[int]],
        openings: Sequence[Opening | None] | None = None,
        *,
        starts: Sequence[int] | None = None,
        watched: int | None = None,
        least_rows: int = 1,
        product_rows: int = 0,
    ) -> None:
        """`starts`: tokens between the opening of each text and what is read of it."""
        self.product_rows = product_rows
        """Tokens that ask an opening in one call, always as many; 0: all at once."""
        self.least_rows = least_rows
        """Tokens of a product at least; idle ones are added where there are fewer."""
        self.openings = openings or [None] * len(texts)
        """What stands before each text."""
        self.watched = watched
        """The layer whose weights are kept."""
        self.weights: list[torch.Tensor] = []
        """Of each text: (head, token, token that it sees)."""
        self.lengths = [len(text) for text in texts]
        self.n_tokens = sum(self.lengths)
        self.n_idle = max(0, least_rows - self.n_tokens)
        """Tokens at the end that belong to no text."""
        idle = [0] * self.n_idle
        self.ids = [*itertools.chain.from_iterable(texts), *idle]
        self.starts = starts or [0] * len(texts)
        n_before = [opening.length if opening else 0 for opening in self.openings]
        firsts = [n + start for n, start in zip(n_before, self.starts, strict=True)]
        self.positions = [first + i for first, n in zip(firsts, self.lengths, strict=True) for i in range(n)] + idle
        self.caches = [DynamicCache() for _ in texts]
        """Of each text, without its opening."""
        self.pieces = [Piece(i, n, n) for i, n in enumerate(self.lengths)]
        self.kept: list[tuple[torch.Tensor, torch.Tensor]] = []
        """Keys and values of each text in the layer that is being computed, (1, head, token, width)."""
        self.hidden: dict[int, torch.Tensor] = {}
        """By the number of keys, where as many tokens ask in every call."""
        self.rows = _by_opening(self.openings, self.lengths)
        super().__init__()

    @property
    def ends(self) -> list[int]:
        """The place of each text's last token."""
        return [end - 1 for end in itertools.accumulate(self.lengths)]

    def update(
        self, keys: torch.Tensor, values: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        own = (torch.split(new[:, :, : self.n_tokens], self.lengths, 2) for new in (keys, values))
        parts = zip(self.caches, *own, strict=True)
        self.kept = [cache.update(own_keys, own_values, layer_idx) for cache, own_keys, own_values in parts]
        return keys, values

    def attend(
        self, layer: int, query: torch.Tensor, scaling: float, softcap: float | None, sliding_window: int | None
    ) -> torch.Tensor:
        query = query[:, :, : self.n_tokens]
        if layer != self.watched and not sliding_window and can_fuse(query, self.kept[0][1], softcap):
            attended = self._fused(layer, query, scaling)
        else:
            attended = self._one_by_one(layer, query, scaling, softcap, sliding_window)
        return torch.nn.functional.pad(attended, (0, 0, 0, 0, 0, self.n_idle))

    def _one_by_one(
        self, layer: int, query: torch.Tensor, scaling: float, softcap: float | None, sliding_window: int | None
    ) -> torch.Tensor:
        attended = []
        for piece, asking, keys, values in self._asked(query):
            if opening := self.openings[piece.text]:
                keys = torch.cat([opening.keys[layer][None], keys], 2)
                values = torch.cat([opening.values[layer][None], values], 2)
            if softcap is None and layer != self.watched:
                taken = _by_the_library(asking, keys, values, scaling, sliding_window)
            else:
                taken, weights = plain(asking, keys, values, scaling, softcap, sliding_window)
                self.weights += [weights[0]] if layer == self.watched else []
            attended.append(taken.narrow(2, piece.n_before, piece.n_tokens).transpose(1, 2))
        return torch.cat(attended, 1)

    def _asked(self, query: torch.Tensor) -> Iterator[tuple[Piece, torch.Tensor, torch.Tensor, torch.Tensor]]:
        """Each piece, what asks, and the keys and values of its text."""
        parts = torch.split(query, [piece.n_tokens for piece in self.pieces], 2)
        for piece, part in zip(self.pieces, parts, strict=True):
            keys, values = self.kept[piece.text]
            yield piece, piece.asking(part), keys[:, :, : piece.n_keys], values[:, :, : piece.n_keys]

    def _fused(self, layer: int, query: torch.Tensor, scaling: float) -> torch.Tensor:
        attended = []
        for piece, asking, keys, values in self._asked(query):
            if asking.shape[2] == piece.n_keys:
                parts = FUSED(asking, keys, values, is_causal=True, scale=scaling)
            else:
                parts = FUSED(asking, keys, values, attn_mask=self._hidden(asking, piece.n_keys), scale=scaling)
            attended.append([part.narrow(2, piece.n_before, piece.n_tokens) for part in parts])
        rest = _part(torch.cat([taken for taken, _ in attended], 2), torch.cat([total for _, total in attended], 2))
        output = rest.taken
        for opening, rows in self.rows:
            # The routine takes tokens in blocks of powers of two: the last block is not to be smaller either.
            asking = padded(query[:, :, rows], rounded_up(len(rows), self.product_rows or self.least_rows), 2)
            keys, values = opening.keys[layer][None], opening.values[layer][None]
            pieces = torch.split(asking, self.product_rows or asking.shape[2], 2)
            taken_each = [FUSED(piece, keys, values, scale=scaling) for piece in pieces]
            taken, total = (torch.cat(same, 2)[:, :, : len(rows)] for same in zip(*taken_each, strict=True))
            first = _part(taken, total)
            output[rows] = joined(first, Part(*(tensor[rows] for tensor in rest)))
        return output.transpose(0, 1)

    def _hidden(self, asking: torch.Tensor, n_keys: int) -> torch.Tensor:
        """What is added to scores, so that none of the last tokens sees another that comes after it."""
        if n_keys not in self.hidden:
            seen = _seen(asking.shape[2], n_keys, None, asking.device)
            self.hidden[n_keys] = asking.new_zeros(seen.shape).masked_fill_(~seen, -torch.inf)
        return self.hidden[n_keys]


def _part(taken: torch.Tensor, total: torch.Tensor) -> Part:
    """(1, head, token, width) and (1, head, token), token by token."""
    score = total[0].transpose(0, 1)[:, None, :, None]
    return Part(taken[0].transpose(0, 1)[:, None].contiguous(), score, torch.ones_like(score))


def _by_opening(openings: Sequence[Opening | None], lengths: Sequence[int]) -> list[tuple[Opening, torch.Tensor]]:
    """Each opening with the places of the tokens that follow it."""
    places: dict[Opening, list[int]] = {}
    for opening, length, end in zip(openings, lengths, itertools.accumulate(lengths), strict=True):
        if opening:
            places.setdefault(opening, []).extend(range(end - length, end))
    return [(opening, torch.tensor(own, device=opening.keys[0].device)) for opening, own in places.items()]


def _by_the_library(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, scaling: float, window: int | None
) -> torch.Tensor:
    """What the last tokens take from those they see."""
    seen = _seen(query.shape[2], keys.shape[2], window, query.device)
    share = query.shape[1] != keys.shape[1]
    attend = torch.nn.functional.scaled_dot_product_attention
    return attend(query, keys, values, attn_mask=seen, scale=scaling, enable_gqa=share)


def plain(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    scaling: float,
    softcap: float | None,
    window: int | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same, with the weights, which the library does not keep; it has no soft cap either."""
    share = query.shape[1] // keys.shape[1]
    keys, values = keys.repeat_interleave(share, 1), values.repeat_interleave(share, 1)
    scores = capped(query @ keys.transpose(2, 3) * scaling, softcap)
    seen = _seen(query.shape[2], keys.shape[2], window, query.device)
    exact = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1, dtype=torch.float32)
    weights = exact.to(query.dtype)
    return weights @ values, weights


def _seen(n_queries: int, n_keys: int, window: int | None, device: torch.device) -> torch.Tensor:
    """Whether one of the last tokens sees another: none that comes after it, and none that lies too far back."""
    seen = torch.ones(n_queries, n_keys, dtype=torch.bool, device=device).tril(n_keys - n_queries)
    return seen.triu(n_keys - n_queries - window + 1) if window else seen
