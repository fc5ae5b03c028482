"""The rows of a batch: answers being written, the groups that continue one prompt, and what is kept of each token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch
from transformers import DynamicCache

from shaketable.engine.checkpoint import Checkpoint
from shaketable.engine.prefix import Prefix
from shaketable.engine.sampling import entropies, sampled_logprobs, uniforms
from shaketable.types import Draft, Json, Prompt, Sampling

TOP = 20
"""How many alternatives `top_logprobs` keeps."""
PLAIN = Sampling(temperature=1.0, max_tokens=1)
"""Of idle rows."""


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

    def draft(self, maker: str) -> Draft:
        extras = {name: list(values) for name, values in self.extras.items()}
        return Draft(made_by=maker, token_ids=tuple(self.tokens), seconds=self.seconds, extras=extras)

    def take_up(self, draft: Draft) -> None:
        """Go on from what another process has written."""
        self.tokens, self.seconds = list(draft.token_ids), draft.seconds
        self.extras = {name: list(values) for name, values in draft.extras.items()}


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
    prefix: Prefix | DynamicCache
    """The library's own cache when the model runs plainly, one row at a time."""
    rows: list[Row]
    logits: torch.Tensor
    """The next token's, of each branch."""
    branches: list[int] = field(init=False)
    """Of each row: rows that have drawn the same tokens so far are one branch, computed once."""

    def __post_init__(self) -> None:
        self.branches = [0] * len(self.rows)

    @property
    def row_logits(self) -> torch.Tensor:
        """The next token's, of each row."""
        is_each = self.branches == list(range(len(self.logits)))
        return self.logits if is_each else self.logits[torch.tensor(self.branches, device=self.logits.device)]

    @property
    def newest(self) -> list[int]:
        """The last token of each branch."""
        tokens = {branch: row.tokens[-1] for branch, row in zip(self.branches, self.rows, strict=True)}
        return [tokens[branch] for branch in range(len(tokens))]

    def keep(self, kept: list[int]) -> None:
        """Let go of all rows but these, which part from those that drew another token."""
        self.rows = [self.rows[i] for i in kept]
        ends = [(self.branches[i], row.tokens[-1]) for i, row in zip(kept, self.rows, strict=True)]
        branches = {end: number for number, end in enumerate(dict.fromkeys(ends))}
        self.branches = [branches[end] for end in ends]
        if not isinstance(self.prefix, DynamicCache):
            self.prefix.keep([before for before, _ in branches])


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


def alike(rows: Sequence[Row]) -> list[list[Row]]:
    """Rows that have written as many tokens go on together."""
    lengths = dict.fromkeys(len(row.tokens) for row in rows)
    return [[row for row in rows if len(row.tokens) == length] for length in lengths]


def note_extras(
    rows: Sequence[Row | None],
    logits: torch.Tensor,
    tokens: torch.Tensor,
    seen: Sequence[Sequence[int]],
    checkpoint: Checkpoint,
) -> None:
    """`processed_…` is of the distribution really sampled, the rest of the model's own at temperature 1.

    None: an idle row. A GPU's routines may choose by the number of rows: there all of them are treated alike.
    """
    wanted = [(i, row) for i, row in enumerate(rows) if row and row.prompt.wants]
    if not wanted:
        return
    if not logits.is_cuda:
        places = torch.tensor([i for i, _ in wanted])
        logits, tokens, seen = logits.index_select(0, places), tokens[places], [seen[i] for i, _ in wanted]
        rows, wanted = [row for _, row in wanted], [(k, row) for k, (_, row) in enumerate(wanted)]
    raw = processed = torch.log_softmax(logits.float(), -1)
    wants = {want for _, row in wanted for want in row.prompt.wants}
    if any(want.startswith("processed_") for want in wants):
        processed = sampled_logprobs(logits, [row.sampling if row else PLAIN for row in rows], seen)
    found: dict[str, Sequence[Json]] = {"token_ids": tokens.tolist()}
    for want, logprobs in (("logprobs", raw), ("processed_logprobs", processed)):
        found[want] = logprobs.gather(1, tokens[:, None])[:, 0].tolist() if want in wants else ()
    for want, logprobs in (("entropy", raw), ("processed_entropy", processed)):
        found[want] = entropies(logprobs) if want in wants else ()
    found["top_logprobs"] = _top(raw, checkpoint) if "top_logprobs" in wants else ()
    for i, row in wanted:
        for want in dict.fromkeys(row.prompt.wants):
            if want in found:
                row.extras.setdefault(want, []).append(found[want][i])


def _top(logprobs: torch.Tensor, checkpoint: Checkpoint) -> list[Json]:
    top = torch.topk(logprobs, TOP)
    return [
        [[checkpoint.tokenizer.decode([token]), value] for token, value in zip(tokens, values, strict=True)]
        for tokens, values in zip(top.indices.tolist(), top.values.tolist(), strict=True)
    ]
