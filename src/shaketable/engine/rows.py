"""The rows of a batch: answers being written, the groups that continue one prompt, and what is kept of each token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch
from transformers import DynamicCache

from shaketable.engine.checkpoint import Checkpoint
from shaketable.engine.sampling import entropy, sampled_logprobs, uniforms
from shaketable.engine.shared_prefix import PooledPrefix, Prefix
from shaketable.types import Json, Prompt, Sampling

TOP = 20
"""How many alternatives `top_logprobs` keeps."""


@dataclass
class Row:
    """One answer being written; several tickets when greedy repeats are one computation."""

    tickets: list[int]
    prompt: Prompt
    sampling: Sampling
    """With the values really used."""
    numbers: np.ndarray
    tokens: list[int] = field(default_factory=list)
    extras: dict[str, list[Json]] = field(default_factory=dict)
    seconds: float = 0.0


class Begun(NamedTuple):
    """A prompt to read, and the rows that will continue it."""

    prompt_ids: list[int]
    n_opening: int
    """Tokens that other prompts begin with too."""
    rows: list[Row]


@dataclass
class Group:
    """The rows that continue one prompt."""

    prompt_ids: list[int]
    prefix: Prefix | PooledPrefix | DynamicCache
    """The library's own cache when the model runs plainly, one row at a time."""
    rows: list[Row]
    logits: torch.Tensor
    """The next token's, of each row."""

    def keep(self, kept: list[int]) -> None:
        """Let go of all rows but these."""
        if len(kept) == len(self.rows):
            return
        self.rows = [self.rows[i] for i in kept]
        if not isinstance(self.prefix, DynamicCache):
            self.prefix.keep(kept)


def open_rows(asked: Sequence[tuple[int, Prompt, Sampling]]) -> list[Row]:
    """A row for each ticket with the sampling values really used; those that would draw the same share one."""
    rows: dict[tuple[Sampling, int, tuple[str, ...]], Row] = {}
    for ticket, prompt, sampling in asked:
        seed = 0 if sampling.temperature == 0 else prompt.seed
        same = (sampling, seed, prompt.wants)
        if same in rows:
            rows[same].tickets.append(ticket)
        else:
            rows[same] = Row([ticket], prompt, sampling, uniforms(seed, sampling.max_tokens))
    return list(rows.values())


def note_extras(
    rows: list[Row],
    logits: torch.Tensor,
    tokens: torch.Tensor,
    seen: Sequence[Sequence[int]],
    checkpoint: Checkpoint,
) -> None:
    """`processed_…` is of the distribution really sampled, the rest of the model's own at temperature 1."""
    wanted = [i for i, row in enumerate(rows) if row.prompt.wants]
    if not wanted:
        return
    places = torch.tensor(wanted, device=logits.device)
    some, drawn = logits.index_select(0, places), tokens[places, None]
    raw = processed = torch.log_softmax(some.float(), -1)
    if any(want.startswith("processed_") for i in wanted for want in rows[i].prompt.wants):
        processed = sampled_logprobs(some, [rows[i].sampling for i in wanted], [seen[i] for i in wanted])
    chosen = {
        "logprobs": raw.gather(1, drawn)[:, 0].tolist(),
        "processed_logprobs": processed.gather(1, drawn)[:, 0].tolist(),
        "token_ids": drawn[:, 0].tolist(),
    }
    for k, i in enumerate(wanted):
        for want in dict.fromkeys(rows[i].prompt.wants):
            value: Json
            if want in chosen:
                value = chosen[want][k]
            elif want == "top_logprobs":
                value = _top(raw[k], checkpoint)
            elif want in ("entropy", "processed_entropy"):
                value = entropy((raw if want == "entropy" else processed)[k])
            else:
                continue
            rows[i].extras.setdefault(want, []).append(value)


def _top(logprobs: torch.Tensor, checkpoint: Checkpoint) -> list[Json]:
    top = torch.topk(logprobs, TOP)
    return [
        [checkpoint.tokenizer.decode([token]), value]
        for token, value in zip(top.indices.tolist(), top.values.tolist(), strict=True)
    ]
