"""The local engine: one prompt at many temperatures, many times, read once and decoded together.

Rows of several prompts are decoded as one batch, each row with its own temperature and seed;
finished rows are dropped and the batch is filled from the next prompts. A row's text does not
depend on its neighbours: `batch_invariance` proves on this machine, bit by bit, which way of batching
keeps that promise, and the engine uses no other.
"""

from __future__ import annotations

import functools
import math
import platform
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, Unpack

import torch
import transformers
from transformers import DynamicCache

from shaketable.engine.batch_invariance import prove
from shaketable.engine.checkpoint import EngineSettings
from shaketable.engine.completing import EMPTY_PROMPT, complete, finish_reason, too_long
from shaketable.engine.kept_readings import KeptReadings
from shaketable.engine.kept_tokens import KeptTokens
from shaketable.engine.prefix import Pools, ReadPrompt
from shaketable.engine.prompt_reader import PromptReader
from shaketable.engine.proof import Checks, Invariance, Proof
from shaketable.engine.proof_cache import facts_of, recall
from shaketable.engine.retracing import retrace
from shaketable.engine.row_pool import FIXED_ROWS
from shaketable.engine.rows import Begun, Group, alike, note_extras, open_rows
from shaketable.engine.sampling import draw_each
from shaketable.engine.shared_prefix import NAME
from shaketable.engine.side_by_side import packs
from shaketable.errors import ModelError
from shaketable.identity import digest
from shaketable.types import Completion, Draft, Failure, Json, Message, Prompt

Replies = list[tuple[int, Completion | Failure]]
"""Tickets with what became of their prompts."""


class SweepEngine(PromptReader):
    def __init__(self, path: Path, **settings: Unpack[EngineSettings]) -> None:
        super().__init__(path, **settings)
        self.waiting: dict[tuple[Literal["chat", "plain"], tuple[Message, ...]], list[tuple[int, Prompt]]] = {}
        """Layout and messages → the tickets that ask them."""
        self.begun: dict[int, Draft] = {}
        """Tickets among them → what another process has written."""
        self.failed: Replies = []
        self.groups: list[Group] = []
        self.readings = KeptReadings()
        self.n_positions = 0
        """Decoded token positions so far, for benchmarks."""

    # --- the promise of protocols.StreamingModel ----------------------------------------------

    def submit(self, ticket: int, prompt: Prompt) -> None:
        self.waiting.setdefault((prompt.layout, prompt.messages), []).append((ticket, prompt))

    def go_on(self, ticket: int, prompt: Prompt, draft: Draft) -> None:
        self.submit(ticket, prompt)
        if self.proof.retraces and draft.made_by == self.maker:
            self.begun[ticket] = draft

    def collect(self, seconds: float = math.inf) -> Replies:
        """Decode until at least one row is finished, or for a time; empty when nothing waits."""
        try:
            with torch.inference_mode():
                return self._decode_until_one_is_finished(time.perf_counter() + seconds)
        except BaseException as error:
            self.forget()
            if isinstance(error, torch.OutOfMemoryError):
                raise ModelError(
                    f"{self.path.name} and the answers it writes at once do not fit into the memory of {self.device}. "
                    "Use batching='free' with a smaller n_rows, shorter prompts, or a smaller model or dtype."
                ) from error
            raise

    def forget(self) -> None:
        """Whoever catches an error starts anew: no reply to an old ticket may reach a new one."""
        self.waiting, self.begun, self.groups, self.failed = {}, {}, [], []
        self.pools = Pools(is_fixed=self.pools.is_fixed, product_rows=self.pools.product_rows)
        self.readings.clear()
        if self.kept is not None:
            self.kept.clear()

    def _decode_until_one_is_finished(self, end: float) -> Replies:
        while True:
            self._start_waiting()
            finished, self.failed = self.failed, []
            if not self.groups:
                return finished
            finished += self._step()
            if finished or time.perf_counter() >= end:
                return finished

    def written(self) -> dict[int, int]:
        """Ticket of each row under way → its tokens so far."""
        return {ticket: len(row.tokens) for group in self.groups for row in group.rows for ticket in row.tickets}

    def drafts(self) -> dict[int, Draft]:
        """Ticket of each row under way → what is written so far; none where another process could not go on from it."""
        if not self.proof.retraces:
            return {}
        rows = [row for group in self.groups for row in group.rows]
        return {ticket: draft for row in rows for draft in [row.draft(self.maker)] for ticket in row.tickets}

    @functools.cached_property
    def maker(self) -> str:
        """Whoever has the same writes the same tokens."""
        return digest(facts_of(self))

    def generate(self, prompts: Sequence[Prompt]) -> list[Completion | Failure]:
        for ticket, prompt in enumerate(prompts):
            self.submit(ticket, prompt)
        replies: dict[int, Completion | Failure] = {}
        while len(replies) < len(prompts):
            replies.update(self.collect())
        return [replies[ticket] for ticket in range(len(prompts))]

    def environment(self) -> dict[str, Json]:
        return {
            "engine": "shaketable sweep",
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "device": torch.cuda.get_device_name() if self.device.startswith("cuda") else platform.processor() or "cpu",
            "dtype": self.dtype,
            "threads": torch.get_num_threads(),
            "batching": self.invariance if self.batching == "exact" else self.batching,
            "revision": self.revision,
        }

    # --- starting -----------------------------------------------------------------------------

    def _start_waiting(self) -> None:
        """Read the prompts of as many rows as there is room for."""
        begun: list[Begun] = []
        while self.waiting and (room := self._room(begun)) > 0:
            begun += self._next_waiting(room)
        for pack in self._packs(begun):
            self.groups += self._read(pack)

    def _packs(self, begun: list[Begun]) -> Iterator[list[Begun]]:
        """What is read in one pass."""
        if not self.takes_any_number:  # In fixed shapes another prompt beside it would change those of a prompt.
            yield from ([prompt] for prompt in begun)
        elif self.kept is None:
            lengths = [len(prompt.prompt_ids) - prompt.n_opening for prompt in begun]
            yield from packs(begun, lengths, self.device)
        else:
            while begun:
                n_unread = self.n_unread([(prompt.prompt_ids, prompt.n_opening) for prompt in begun])
                ready = {i: n for i, n in enumerate(n_unread) if n is not None}
                pack = next(packs(list(ready), list(ready.values()), self.device))
                yield [begun[i] for i in pack]
                begun = [prompt for i, prompt in enumerate(begun) if i not in pack]

    def _room(self, begun: Sequence[Begun]) -> int:
        """How many more rows may be decoded at once."""
        live = sum(len(group.rows) for group in self.groups) + sum(len(prompt.rows) for prompt in begun)
        most = {"any": self.n_rows, "fixed": FIXED_ROWS, "alone": 1}[self.invariance]
        return (self.n_rows if self.takes_any_number else most) - live

    def _next_waiting(self, room: int) -> list[Begun]:
        """The prompt of the oldest ticket, so that what was begun ends first; none if it cannot be asked."""
        key = min(self.waiting, key=lambda key: self.waiting[key][0][0])
        asked = self.waiting.pop(key)
        layout, messages = key
        prompt_ids = self.encode(messages, layout)
        if not prompt_ids:
            self.failed += [(ticket, EMPTY_PROMPT) for ticket, _ in asked]
            return []
        fitting = []
        for ticket, prompt in asked:
            sampling = self.used_sampling(prompt.sampling)
            if len(prompt_ids) + sampling.max_tokens > self.window:
                self.failed.append((ticket, too_long(len(prompt_ids), sampling.max_tokens, self)))
            else:
                fitting.append((ticket, prompt, sampling))
        todo = open_rows(fitting)
        for row in todo:
            drafts = [self.begun.pop(ticket) for ticket in row.tickets if ticket in self.begun]
            if drafts:
                row.take_up(max(drafts, key=lambda draft: len(draft.token_ids)))
        if not self.takes_any_number:
            if left := todo[room:]:
                self.waiting[key] = [(ticket, row.prompt) for row in left for ticket in row.tickets]
            todo = todo[:room]
        n_opening = self.n_opening(messages, layout, prompt_ids)
        return [Begun(prompt_ids, n_opening, rows) for rows in alike(todo)]

    def _read(self, begun: Sequence[Begun]) -> list[Group]:
        """Read each prompt once for all its rows, and its opening once for all prompts that share it."""
        start = time.perf_counter()
        if self.invariance == "alone":
            groups = [self._plainly(prompt) for prompt in begun]
        else:
            reads = self.read_prompts([(prompt.prompt_ids, prompt.n_opening) for prompt in begun])
            groups = [self._shared(prompt, read, logits) for prompt, (read, logits) in zip(begun, reads, strict=True)]
        rows = [row for prompt in begun for row in prompt.rows]
        share = (time.perf_counter() - start) / len(rows)
        for row in rows:
            row.seconds += share
        return groups

    def _plainly(self, begun: Begun) -> Group:
        cache = DynamicCache(config=self.model.config)
        return Group(begun.prompt_ids, cache, begun.rows, self.read(begun.prompt_ids, cache))

    def _shared(self, begun: Begun, read: ReadPrompt, logits: torch.Tensor) -> Group:
        if not begun.rows[0].tokens:
            return Group(begun.prompt_ids, self.prefix(read, 1), begun.rows, logits)
        written = [tuple(row.tokens) for row in begun.rows]
        branches = list(dict.fromkeys(written))
        prefix, logits = retrace(self, read, branches)
        group = Group(begun.prompt_ids, prefix, begun.rows, logits)
        group.branches = [branches.index(tokens) for tokens in written]
        return group

    # --- one step of the batch ----------------------------------------------------------------

    def _step(self) -> Replies:
        """Draw a token for every row, finish what is finished, and read the new tokens."""
        start = time.perf_counter()
        finished: Replies = []
        rows = [row for group in self.groups for row in group.rows]
        logits = [group.row_logits for group in self.groups]
        seen = [
            group.prompt_ids + row.tokens if row.sampling.repetition_penalty != 1.0 else ()
            for group in self.groups
            for row in group.rows
        ]
        tokens = draw_each(logits, [row.sampling for row in rows], [row.numbers[len(row.tokens)] for row in rows], seen)
        drawn = tokens.tolist()
        if any(row.prompt.wants for row in rows):
            note_extras(rows, torch.cat(logits), tokens, seen, self)
        self.n_positions += len(rows)
        reasons = []
        for row, token in zip(rows, drawn, strict=True):
            row.tokens.append(token)
            reasons.append(finish_reason(row, self))
        start_of_group = 0
        for group in self.groups:
            group_reasons = reasons[start_of_group : start_of_group + len(group.rows)]
            for row, reason in zip(group.rows, group_reasons, strict=True):
                if reason:
                    completion = complete(row, reason, group.prompt_ids, self)
                    finished += [(ticket, completion) for ticket in row.tickets]
            start_of_group += len(group.rows)
            group.keep([i for i, reason in enumerate(group_reasons) if not reason])
        self.groups = [group for group in self.groups if group.rows]
        if self.groups:
            self._advance()
        share = (time.perf_counter() - start) / len(rows)
        for row in rows:
            row.seconds += share
        return finished

    def _advance(self) -> None:
        """One forward pass over the newest token of every branch."""
        prefixes, ids = [], []
        for group in self.groups:
            if isinstance(group.prefix, DynamicCache):
                group.logits = self.read(group.newest, group.prefix)
                continue
            prefixes.append(group.prefix)
            ids += group.newest
        if prefixes:
            parts = torch.split(self.advance(prefixes, ids), [prefix.n_rows for prefix in prefixes])
            for group, part in zip(self.groups, parts, strict=True):
                group.logits = part

    @functools.cached_property
    def proof(self) -> Proof:
        """Which way of batching gives every row the bits it has alone: proved on this machine, not assumed.

        `any`: rows of any number in any order; `fixed`: products, or all of the batch, of always as many rows;
        `alone`: the plain model, one row at a time, when the shared prefix does not fit this model.
        """
        plain = self.model.config._attn_implementation
        with torch.inference_mode():
            proof = recall(self, self.prove)
        self.model.set_attn_implementation(plain if proof.way == "alone" else NAME)
        if proof.way == "fixed" and self.batching == "free":
            proof = replace(proof, way="any", product_rows=0, retraces=False)
        self.multiply(proof.product_rows)
        if proof.way == "fixed" and not proof.is_captured and not proof.product_rows:
            self.pools = Pools(is_fixed=True)
        self.least_rows = proof.least_rows
        self.kept = KeptTokens() if proof.way == "any" and self.device == "cpu" else None
        return proof

    def prove(self, checks: Checks) -> Proof:
        return prove(self, checks)

    @property
    def takes_any_number(self) -> bool:
        """Whether a batch may have any number of rows: it changes no product, or every product is made in pieces."""
        return self.proof.way == "any" or self.proof.product_rows > 0

    @property
    def invariance(self) -> Invariance:
        return self.proof.way
