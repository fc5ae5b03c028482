"""The kernel of `ragged_attention`: one program for each token and group of heads, in one pass over what it sees."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from shaketable.engine.captured.seen import N_SEGMENTS, Scoring, Seen

LEAST = 16
"""Rows and columns of a matrix product on this hardware; what has fewer is filled up."""
BLOCK = 32
"""Tokens looked at together. With one warp this was the fastest of 36 settings on an H200, for short and long texts."""


def attend_by_kernel(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, seen: Seen, scoring: Scoring
) -> torch.Tensor:
    n_tokens, heads, width = query.shape
    groups, value_width = values.shape[1:]
    output = query.new_empty((n_tokens, heads, value_width))
    width_room, value_room = (max(LEAST, triton.next_power_of_2(n)) for n in (width, value_width))
    _attend[(n_tokens, groups)](
        query, keys, values, output, seen.starts, seen.lengths,
        query.stride(0), query.stride(1), keys.stride(0), keys.stride(1), values.stride(0), values.stride(1),
        output.stride(0), output.stride(1), seen.starts.stride(0), seen.lengths.stride(0),
        scoring.scaling, scoring.softcap or 0.0, scoring.window or 0,
        n_share=heads // groups, n_heads=max(LEAST, triton.next_power_of_2(heads // groups)),
        width=width, width_room=width_room,
        value_width=value_width, value_room=value_room,
        block=BLOCK, n_segments=N_SEGMENTS,
        precision="ieee" if query.dtype == torch.float32 else "tf32", num_warps=1, num_stages=3,
    )  # fmt: skip
    return output


@triton.jit  # type: ignore[untyped-decorator]
def _attend(  # type: ignore[no-untyped-def]
    query, keys, values, output, starts, lengths,
    query_token, query_head, key_place, key_group, value_place, value_group,
    output_token, output_head, starts_token, lengths_token,
    scaling, softcap, window,
    n_share: tl.constexpr, n_heads: tl.constexpr, width: tl.constexpr, width_room: tl.constexpr,
    value_width: tl.constexpr, value_room: tl.constexpr, block: tl.constexpr, n_segments: tl.constexpr,
    precision: tl.constexpr,
):  # fmt: skip
    token, group = tl.program_id(0).to(tl.int64), tl.program_id(1)
    heads, columns, value_columns = tl.arange(0, n_heads), tl.arange(0, width_room), tl.arange(0, value_room)
    head_rows = (group * n_share + heads)[:, None]
    is_query = (heads < n_share)[:, None] & (columns < width)[None, :]
    asking = tl.load(query + token * query_token + head_rows * query_head + columns[None, :], mask=is_query, other=0.0)
    n_seen = 0
    for i in tl.static_range(n_segments):
        n_seen += tl.load(lengths + token * lengths_token + i).to(tl.int32)
    n_hidden = tl.where(window > 0, tl.maximum(n_seen - window, 0), 0)
    highest = tl.full((n_heads,), -1.0e30, tl.float32)
    total = tl.zeros((n_heads,), tl.float32)
    taken = tl.zeros((n_heads, value_room), tl.float32)
    n_before = 0
    for i in tl.static_range(n_segments):
        start = tl.load(starts + token * starts_token + i).to(tl.int64)
        length = tl.load(lengths + token * lengths_token + i).to(tl.int32)
        first = tl.maximum(n_hidden - n_before, 0) // block * block
        for begin in range(first, length, block):
            places = begin + tl.arange(0, block)
            is_seen = (places < length) & (places + n_before >= n_hidden)
            lines = start + places
            is_key = is_seen[None, :] & (columns < width)[:, None]
            key = tl.load(
                keys + lines[None, :] * key_place + group * key_group + columns[:, None], mask=is_key, other=0.0
            )
            scores = tl.dot(asking, key, input_precision=precision) * scaling
            if softcap > 0:
                scores = softcap * (2 / (1 + tl.exp(-2 * scores / softcap)) - 1)  # softcap * tanh(scores / softcap)
            scores = tl.where(is_seen[None, :], scores, -float("inf"))
            higher = tl.maximum(highest, tl.max(scores, 1))
            weights = tl.exp(scores - higher[:, None])
            fading = tl.exp(highest - higher)
            is_value = is_seen[:, None] & (value_columns < value_width)[None, :]
            value = tl.load(
                values + lines[:, None] * value_place + group * value_group + value_columns[None, :],
                mask=is_value,
                other=0.0,
            )
            total = total * fading + tl.sum(weights, 1)
            taken = taken * fading[:, None]
            taken += tl.dot(weights.to(value.dtype), value, input_precision=precision)
            highest = higher
        n_before += length
    taken = taken / tl.where(total > 0, total, 1.0)[:, None]
    is_output = (heads < n_share)[:, None] & (value_columns < value_width)[None, :]
    tl.store(
        output + token * output_token + head_rows * output_head + value_columns[None, :],
        taken.to(output.dtype.element_ty),
        mask=is_output,
    )
