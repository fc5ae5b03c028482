"""Prompts with the beginnings of answers → the next token's log-probabilities over the whole vocabulary.

Serves fragility curves, which ask for the nodes of a token tree. What a prompt has in common with another is read
once, and every node costs one token position; tokens of many prompts are computed as one batch.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from transformers import DynamicCache

from shaketable.engine.token_trees import Token, TokenTrees
from shaketable.types import Prompt

if TYPE_CHECKING:
    from shaketable.engine.sweep import SweepEngine

Suffix = tuple[int, ...]
TOKENS_AT_ONCE = 512


@dataclass
class Stem:
    """A prompt that was read, with the nodes that grew from it."""

    ids: list[int]
    tree: int
    root: torch.Tensor
    """The first token's log-probabilities."""
    places: dict[Suffix, int] = field(default_factory=dict)
    """Of the nodes in their tree; the prompt's tokens come first."""


class Continuations:
    def __init__(self, engine: SweepEngine) -> None:
        self.engine = engine
        self.trees = TokenTrees()
        self.stems: dict[tuple[object, ...], Stem] = {}
        self.n_positions = 0
        """Nodes computed so far; prompts are not counted, as a sampler must read them too."""

    def expand(self, asked: Sequence[tuple[Prompt, Sequence[Suffix]]]) -> list[list[torch.Tensor]]:
        """For each prompt, the log-probabilities after each of its suffixes, at temperature 1.

        Prompts that are not asked for are forgotten.
        """
        try:
            with torch.inference_mode():
                return self._expand(asked)
        except BaseException:
            self.stems.clear()  # Places may be promised whose keys were never computed.
            raise

    def _expand(self, asked: Sequence[tuple[Prompt, Sequence[Suffix]]]) -> list[list[torch.Tensor]]:
        self._read_prompts({_key(prompt): prompt for prompt, _ in asked})
        stems = [self.stems[_key(prompt)] for prompt, _ in asked]
        wanted = [(stem, suffix) for stem, (_, suffixes) in zip(stems, asked, strict=True) for suffix in suffixes]
        nodes = self._read_nodes(wanted)
        return [
            [nodes[stem.tree, suffix] for suffix in suffixes] for stem, (_, suffixes) in zip(stems, asked, strict=True)
        ]

    # --- prompts ------------------------------------------------------------------------------

    def _read_prompts(self, asked: dict[tuple[object, ...], Prompt]) -> None:
        """Read those that are not known yet."""
        # One of the forgotten stays for now: new prompts may begin like it.
        for key in [key for key in self.stems if key not in asked][:-1]:
            del self.stems[key]
        new = {key: prompt for key, prompt in asked.items() if key not in self.stems}
        ids = [self.engine.encode(prompt.messages, prompt.layout) for prompt in new.values()]
        # Where the new ones have more in common with each other, the first is read before the rest.
        n_first = int(len(ids) > 1 and _n_common(ids[0], ids[1]) > self._most_alike(ids[0])[0])
        for part in (slice(0, n_first), slice(n_first, None)):
            self.stems |= zip(list(new)[part], self._grow_stems(ids[part]), strict=True)

    def _most_alike(self, ids: list[int]) -> tuple[int, int]:
        """How many first tokens a prompt has in common with one that was read, and that one's tree."""
        return max(((_n_common(ids, stem.ids), stem.tree) for stem in self.stems.values()), default=(0, 0))

    def _grow_stems(self, prompts: list[list[int]]) -> list[Stem]:
        taken = {stem.tree for stem in self.stems.values()}
        free = list(itertools.islice((tree for tree in itertools.count() if tree not in taken), len(prompts)))
        if self.engine.invariance == "alone" or not prompts:
            return [Stem(ids, tree, self._plainly(ids)) for ids, tree in zip(prompts, free, strict=True)]
        alike = [self._most_alike(ids) for ids in prompts]
        self.trees.copy([tree for _, tree in alike], free, max(n_known for n_known, _ in alike))
        # The last token is always read: what follows it is asked for.
        unread = [range(min(n_known, len(ids) - 1), len(ids)) for ids, (n_known, _) in zip(prompts, alike, strict=True)]
        tokens = [
            Token(id=ids[i], tree=tree, n_prompt=i + 1)
            for ids, tree, places in zip(prompts, free, unread, strict=True)
            for i in places
        ]
        roots = self._read(tokens, [end - 1 for end in itertools.accumulate(map(len, unread))])
        return [Stem(ids, tree, root) for ids, tree, root in zip(prompts, free, roots, strict=True)]

    # --- nodes --------------------------------------------------------------------------------

    def _read_nodes(self, wanted: Sequence[tuple[Stem, Suffix]]) -> dict[tuple[int, Suffix], torch.Tensor]:
        nodes = {(stem.tree, ()): stem.root for stem, _ in wanted}
        tokens: dict[tuple[int, Suffix], Token] = {}
        for stem, suffix in wanted:
            # Parents first; those that were never asked for are read on the way.
            for end in range(1, len(suffix) + 1):
                node = suffix[:end]
                if end == len(suffix) or node not in stem.places:
                    stem.places.setdefault(node, len(stem.ids) + len(stem.places))
                    path = tuple(stem.places[suffix[:i]] for i in range(1, end + 1))
                    tokens[stem.tree, node] = Token(id=node[-1], tree=stem.tree, n_prompt=len(stem.ids), path=path)
        self.n_positions += len(tokens)
        if self.engine.invariance == "alone":
            return nodes | {(stem.tree, node): self._plainly([*stem.ids, *node]) for stem, node in wanted if node}
        lines = self._read(list(tokens.values()), range(len(tokens)))
        return nodes | dict(zip(tokens, lines, strict=True))

    # --- the model ----------------------------------------------------------------------------

    def _read(self, tokens: Sequence[Token], wanted: Sequence[int]) -> list[torch.Tensor]:
        """Log-probabilities after those of the tokens whose numbers are wanted."""
        wanted_logits: list[torch.Tensor] = []
        device = self.engine.device
        for start in range(0, len(tokens), TOKENS_AT_ONCE):
            part = tokens[start : start + TOKENS_AT_ONCE]
            in_part = [number - start for number in wanted if start <= number < start + len(part)]
            self.trees.expect(part, device)
            logits = self.engine.model(
                torch.tensor([[token.id for token in part]], device=device),
                position_ids=torch.tensor([[token.position for token in part]], device=device),
                past_key_values=self.trees,
                use_cache=True,
                shared=self.trees,
                logits_to_keep=torch.tensor(in_part, device=device, dtype=torch.int64),
            ).logits[0]
            wanted_logits += _logprobs(logits)
        return wanted_logits

    def _plainly(self, ids: list[int]) -> torch.Tensor:
        """For models whose attention the token trees do not fit."""
        return _logprobs(self.engine.read(ids, DynamicCache(config=self.engine.model.config)))[0]


def _key(prompt: Prompt) -> tuple[object, ...]:
    return prompt.layout, prompt.messages


def _n_common(first: Sequence[int], other: Sequence[int]) -> int:
    return next((n for n, (a, b) in enumerate(zip(first, other, strict=False)) if a != b), min(len(first), len(other)))


def _logprobs(logits: torch.Tensor) -> torch.Tensor:
    on_device: torch.Tensor = torch.log_softmax(logits.float(), -1)
    return on_device.cpu()
