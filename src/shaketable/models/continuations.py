"""Prompts with the beginnings of answers → the next token's log-probabilities over the whole vocabulary.

Serves fragility curves, which ask for the nodes of a token tree. A prompt is read once, what it shares
with the prompt before it is not read again, and a node's keys and values are kept for its children, so
each node costs one token position; nodes of many prompts are computed as one batch.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from transformers import DynamicCache

from shaketable.models.shared_prefix import Prefix
from shaketable.types import Prompt

if TYPE_CHECKING:
    from shaketable.models.sweep import SweepEngine

Suffix = tuple[int, ...]
KEPT_PROMPTS = 64
"""Prompts whose nodes are remembered; a prompt of 100 tokens of the embedded model takes 5 MB."""


@dataclass
class Stem:
    """A prompt that was read, with the nodes that grew from it."""

    ids: list[int]
    prefix: Prefix | None
    """None: the model runs plainly, and every node is read from the prompt on."""
    root: torch.Tensor
    """The first token's log-probabilities."""
    nodes: dict[Suffix, torch.Tensor] = field(default_factory=dict)
    """The own keys and values of a node: (keys or values, layer, head, token, width)."""


class Continuations:
    def __init__(self, engine: SweepEngine) -> None:
        self.engine = engine
        self.stems: OrderedDict[tuple[object, ...], Stem] = OrderedDict()
        self.n_positions = 0
        """Nodes computed so far; prompts are not counted, as a sampler must read them too."""

    def expand(self, asked: Sequence[tuple[Prompt, Sequence[Suffix]]]) -> list[list[torch.Tensor]]:
        """For each prompt, the log-probabilities after each of its suffixes, at temperature 1."""
        with torch.inference_mode():
            stems = [self._stem(prompt) for prompt, _ in asked]
            wanted = [(stem, suffix) for stem, (_, suffixes) in zip(stems, asked, strict=True) for suffix in suffixes]
            found = self._read_nodes(wanted)
            return [
                [found[id(stem), suffix] for suffix in suffixes]
                for stem, (_, suffixes) in zip(stems, asked, strict=True)
            ]

    # --- prompts ------------------------------------------------------------------------------

    def _stem(self, prompt: Prompt) -> Stem:
        key = (prompt.layout, prompt.messages)
        if key not in self.stems:
            self.stems[key] = self._read_prompt(self.engine.encode(prompt.messages, prompt.layout))
            while len(self.stems) > KEPT_PROMPTS:
                self.stems.popitem(last=False)
        self.stems.move_to_end(key)
        return self.stems[key]

    def _read_prompt(self, ids: list[int]) -> Stem:
        if self.engine.exactness == "alone":
            return Stem(ids, None, self._plainly(ids))
        cache = DynamicCache()
        n_shared = self._take_over(ids, cache)
        logits = self.engine.read(ids[n_shared:], cache)
        return Stem(ids, Prefix(cache, 0), _logprobs(logits)[0])

    def _take_over(self, ids: list[int], cache: DynamicCache) -> int:
        """Fill the cache with what the last prompt has in common with this one; returns how many tokens that is."""
        last = next(reversed(self.stems.values()), None)
        if last is None or last.prefix is None:
            return 0
        n_shared = 0
        for own, other in zip(ids[:-1], last.ids, strict=False):
            if own != other:
                break
            n_shared += 1
        if n_shared:
            for layer, (keys, values) in enumerate(
                zip(last.prefix.prompt_keys, last.prefix.prompt_values, strict=True)
            ):
                cache.update(keys[None, :, :n_shared], values[None, :, :n_shared], layer)
        return n_shared

    # --- nodes --------------------------------------------------------------------------------

    def _read_nodes(self, wanted: Sequence[tuple[Stem, Suffix]]) -> dict[tuple[int, Suffix], torch.Tensor]:
        """Shorter suffixes first: a node needs its parent's keys and values."""
        found: dict[tuple[int, Suffix], torch.Tensor] = {(id(stem), ()): stem.root for stem, _ in wanted}
        todo = {(id(stem), suffix): (stem, suffix) for stem, suffix in wanted if suffix}
        for stem, suffix in wanted:
            for end in range(1, len(suffix)):
                if suffix[:end] not in stem.nodes:
                    todo.setdefault((id(stem), suffix[:end]), (stem, suffix[:end]))
        self.n_positions += len(todo)
        for depth in sorted({len(suffix) for _, suffix in todo.values()}):
            level = [(stem, suffix) for stem, suffix in todo.values() if len(suffix) == depth]
            logprobs = self._read_level(level, depth)
            found.update({(id(stem), suffix): line for (stem, suffix), line in zip(level, logprobs, strict=True)})
        return found

    def _read_level(self, level: list[tuple[Stem, Suffix]], depth: int) -> list[torch.Tensor]:
        """Nodes of one depth, of any prompts, in one forward pass."""
        if level[0][0].prefix is None:
            return [self._plainly([*stem.ids, *suffix]) for stem, suffix in level]
        groups: dict[int, list[int]] = {}
        for place, (stem, _) in enumerate(level):
            groups.setdefault(id(stem), []).append(place)
        prefixes, ids, order, rooms = [], [], [], []
        for places in groups.values():
            prompt = level[places[0]][0].prefix
            assert prompt is not None
            parents = [level[place][0].nodes.get(level[place][1][:-1]) for place in places]
            room = _room(prompt, parents, depth)
            prefixes.append(prompt.branch(room, depth - 1))
            ids += [level[place][1][-1] for place in places]
            order += places
            rooms.append(room)
        logprobs = _logprobs(self.engine.advance(prefixes, ids))
        for place, own in zip(order, (own for room in rooms for own in room), strict=True):
            stem, suffix = level[place]
            stem.nodes[suffix] = own
        lines = dict(zip(order, logprobs, strict=True))
        return [lines[place] for place in range(len(level))]

    def _plainly(self, ids: list[int]) -> torch.Tensor:
        """For models whose attention the shared prefix does not fit."""
        return _logprobs(self.engine.read(ids, DynamicCache(config=self.engine.model.config)))[0]


def _room(prompt: Prefix, parents: Sequence[torch.Tensor | None], depth: int) -> torch.Tensor:
    """Keys and values of the rows' own tokens, their parents' copied in, with a place for one more token."""
    heads, _, width = prompt.prompt_keys[0].shape
    shape = (len(parents), 2, len(prompt.prompt_keys), heads, depth, width)
    room: torch.Tensor = prompt.prompt_keys[0].new_empty(shape)
    if depth > 1:
        room[..., : depth - 1, :] = torch.stack([parent for parent in parents if parent is not None])
    return room


def _logprobs(logits: torch.Tensor) -> torch.Tensor:
    on_device: torch.Tensor = torch.log_softmax(logits.float(), -1)
    return on_device.cpu()
