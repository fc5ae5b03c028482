"""Prompts are read once for all rows that continue them, their openings once for all prompts that share them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

import torch
from transformers import DynamicCache

from shaketable.engine.checkpoint import Checkpoint, EngineSettings
from shaketable.engine.continued import Continued
from shaketable.engine.fixed_products import multiply_in_pieces
from shaketable.engine.kept_tokens import KeptTokens, Key
from shaketable.engine.prefix import Pools, Prefix, ReadPrompt
from shaketable.engine.row_pool import FIXED_ROWS
from shaketable.engine.shared_prefix import PrefixCache
from shaketable.engine.side_by_side import Opening, SideBySide, layers_of
from shaketable.types import Message

LEAST_OPENING = 64
KEPT_OPENINGS = 8
"""Openings of prompts (worked examples) of so many tokens at least are read once, and so many are kept."""


class PromptReader(Checkpoint):
    def __init__(self, path: Path, **settings: Unpack[EngineSettings]) -> None:
        super().__init__(path, **settings)
        self.n_rows, self.batching = settings.get("n_rows", 128), settings.get("batching", "exact")
        self.openings: OrderedDict[tuple[int, ...], Opening] = OrderedDict()
        self.pools = Pools()
        self.least_rows = 1
        """Rows of a product at least, idle ones among them."""
        self.kept: KeptTokens | None = None
        """What was read before. None: prompts are read whole, as where the number of tokens changes their bits."""

    def read(self, ids: list[int], cache: DynamicCache) -> torch.Tensor:
        """The next token's logits after these tokens, whose keys and values go to the cache."""
        tensor = torch.tensor([ids], device=self.device)
        logits: torch.Tensor = self.model(tensor, past_key_values=cache, use_cache=True, logits_to_keep=1).logits[:, -1]
        return logits

    def read_prompts(self, prompts: Sequence[tuple[list[int], int]]) -> list[tuple[ReadPrompt, torch.Tensor]]:
        """Prompts with the lengths of their openings, each with the next token's logits."""
        openings = [self._opening(tuple(ids[:n_opening])) if n_opening else None for ids, n_opening in prompts]
        rests = [ids[n_opening:] for ids, n_opening in prompts]
        if self.kept is None:
            whole = self.side_by_side(rests, openings)
            logits = self.read_together(whole, whole.ends)
            reads = [layers_of(cache) for cache in whole.caches]
        else:
            before = [tuple(ids[:n_opening]) for ids, n_opening in prompts]
            beginnings = list(map(self.kept.beginning, before, rests))
            texts = Continued(rests, openings, beginnings, least_rows=self.least_rows)
            logits = self.read_together(texts, texts.ends)
            reads = [texts.prompt(i) for i in range(len(prompts))]
            for opening_ids, rest, read in zip(before, rests, reads, strict=True):
                self.kept.keep(opening_ids, rest, *read)
        prompts_read = [ReadPrompt(*read, opening) for read, opening in zip(reads, openings, strict=True)]
        return list(zip(prompts_read, torch.split(logits, 1), strict=True))

    def n_unread(self, prompts: Sequence[tuple[list[int], int]]) -> list[int | None]:
        """Tokens of each prompt that are to be read; None: those of a prompt before it should be kept first, as both
        go on alike."""
        assert self.kept is not None, "Without what was read before, all of them are to be read."
        numbers: list[int | None] = []
        begun: set[Key] = set()
        for ids, n_opening in prompts:
            beginning = self.kept.beginning(tuple(ids[:n_opening]), ids[n_opening:])
            is_next = beginning.next_key not in begun
            begun.add(beginning.next_key)
            numbers.append(len(ids) - n_opening - beginning.length if is_next else None)
        return numbers

    def side_by_side(
        self,
        texts: Sequence[Sequence[int]],
        openings: Sequence[Opening | None] | None = None,
        watched: int | None = None,
    ) -> SideBySide:
        least_rows, product_rows = self.least_rows, self.pools.product_rows
        return SideBySide(texts, openings, watched=watched, least_rows=least_rows, product_rows=product_rows)

    def multiply(self, product_rows: int) -> None:
        """Every product has as many rows from now on; 0: as many as there are."""
        multiply_in_pieces(self.model, product_rows)
        self.openings.clear()
        self.pools = Pools(product_rows=product_rows)

    def read_together(self, texts: SideBySide, wanted: Sequence[int]) -> torch.Tensor:
        """The logits after those of the tokens whose places are wanted."""
        idle = [0] * (self.least_rows - len(wanted))
        logits: torch.Tensor = self.model(
            torch.tensor([texts.ids], device=self.device),
            position_ids=torch.tensor([texts.positions], device=self.device),
            past_key_values=texts,
            use_cache=True,
            shared=texts,
            logits_to_keep=torch.tensor([*wanted, *idle], device=self.device),
        ).logits[0]
        return logits[: len(wanted)]

    def prefix(self, read: ReadPrompt, n_rows: int) -> Prefix:
        # Rows at different places see different parts of an opening through a window: each prompt keeps its own then.
        return Prefix(read, n_rows, self.pools, is_whole=self.has_window)

    def advance(self, prefixes: Sequence[Prefix], ids: list[int]) -> torch.Tensor:
        """The next logits of all rows of these prefixes after one more token each."""
        positions = [prefix.prompt_length + prefix.own_length for prefix in prefixes for _ in range(prefix.n_rows)]
        cache = PrefixCache(prefixes, self.n_with_idle(len(ids)), self.least_rows)
        logits = self.step(cache, ids, positions)
        cache.finish_step()
        return logits

    def n_with_idle(self, n_rows: int) -> int:
        """Rows of a step that has to serve so many."""
        return max(n_rows, FIXED_ROWS if self.pools.is_fixed else self.least_rows)

    def step(self, cache: PrefixCache, ids: list[int], positions: list[int]) -> torch.Tensor:
        """The next logits of all rows of a cache after one more token each, which stand at these positions."""
        idle = [0] * (self.n_with_idle(len(ids)) - len(ids))
        logits: torch.Tensor = self.model(
            torch.tensor([*ids, *idle], device=self.device)[:, None],
            position_ids=torch.tensor([*positions, *idle], device=self.device)[:, None],
            past_key_values=cache,
            use_cache=True,
            shared=cache,
        ).logits[:, -1]
        return logits[: len(ids)]

    def n_opening(self, messages: Sequence[Message], layout: str, prompt_ids: list[int]) -> int:
        """Tokens before the last question, such as worked examples; 0: too few to be worth keeping.

        It depends on the prompt alone, never on what was read before, so that a prompt is always read the same way.
        """
        last = max((i for i, message in enumerate(messages) if message.role == "user"), default=0)
        if last == 0 or layout != "chat":
            return 0
        opening = self.opening_ids(tuple(messages[:last]))
        n_shared = next((i for i, (a, b) in enumerate(zip(opening, prompt_ids, strict=False)) if a != b), len(opening))
        n_shared = min(n_shared, len(prompt_ids) - 1)
        return n_shared if n_shared >= LEAST_OPENING else 0

    def _opening(self, ids: tuple[int, ...]) -> Opening:
        """An opening, read now or before."""
        if ids not in self.openings:
            texts = self.side_by_side([ids])
            self.read_together(texts, texts.ends)
            self.openings[ids] = Opening(texts.caches[0])
            while len(self.openings) > KEPT_OPENINGS:
                self.openings.popitem(last=False)
        self.openings.move_to_end(ids)
        return self.openings[ids]
