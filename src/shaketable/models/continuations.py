"""Prompts with the beginnings of answers → the next token's log-probabilities over the whole vocabulary.

Serves fragility curves, which ask for the nodes of a token tree. Prompts are read together, what they have
in common only once, and a node's keys and values are kept for its children, so each node costs one token
position; nodes of many prompts are computed as one batch.
"""

from __future__ import annotations

import itertools
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
PROMPTS_AT_ONCE = 32
KEPT_PROMPTS = 128
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
            self._read_new([prompt for prompt, _ in asked])
            stems = [self.stems[_key(prompt)] for prompt, _ in asked]
            wanted = [(stem, suffix) for stem, (_, suffixes) in zip(stems, asked, strict=True) for suffix in suffixes]
            found = self._read_nodes(wanted)
            return [
                [found[id(stem), suffix] for suffix in suffixes]
                for stem, (_, suffixes) in zip(stems, asked, strict=True)
            ]

    # --- prompts ------------------------------------------------------------------------------

    def _read_new(self, prompts: Sequence[Prompt]) -> None:
        """Read the prompts that are not known yet, together; the oldest ones are forgotten."""
        new = {_key(prompt): prompt for prompt in prompts if _key(prompt) not in self.stems}
        ids = [self.engine.encode(prompt.messages, prompt.layout) for prompt in new.values()]
        for start in range(0, len(ids), PROMPTS_AT_ONCE):
            self.stems |= zip(list(new)[start:], self._read_prompts(ids[start : start + PROMPTS_AT_ONCE]), strict=False)
        for prompt in prompts:
            self.stems.move_to_end(_key(prompt))
        while len(self.stems) > max(KEPT_PROMPTS, len(prompts)):
            self.stems.popitem(last=False)

    def _read_prompts(self, prompts: list[list[int]]) -> list[Stem]:
        """What all begin with is read once, the rest as one batch. Texts are filled up at their ends, where what
        stands there cannot change what comes before."""
        if self.engine.exactness == "alone":
            return [Stem(ids, None, self._plainly(ids)) for ids in prompts]
        columns = itertools.takewhile(lambda column: len(set(column)) == 1, zip(*prompts, strict=False))
        n_shared = min(sum(1 for _ in columns), min(map(len, prompts)) - 1) if len(prompts) > 1 else 0
        rests = [ids[n_shared:] for ids in prompts]
        longest = max(map(len, rests))
        cache = DynamicCache()
        if n_shared:
            opening = DynamicCache()
            self.engine.read(prompts[0][:n_shared], opening)
            for place, layer in enumerate(opening.layers):
                cache.update(*(t.expand(len(prompts), -1, -1, -1) for t in (layer.keys, layer.values)), place)
        ends = sorted({len(rest) - 1 for rest in rests})
        logits = self.engine.model(
            torch.tensor([rest + [0] * (longest - len(rest)) for rest in rests], device=self.engine.device),
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=torch.tensor(ends, device=self.engine.device),
        ).logits
        stems = []
        for row, (ids, rest) in enumerate(zip(prompts, rests, strict=True)):
            own = DynamicCache()
            for place, layer in enumerate(cache.layers):
                own.update(*(t[row : row + 1, :, : len(ids)] for t in (layer.keys, layer.values)), place)
            stems.append(Stem(ids, Prefix(own, 0), _logprobs(logits[row, ends.index(len(rest) - 1)])))
        return stems

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


def _key(prompt: Prompt) -> tuple[object, ...]:
    return prompt.layout, prompt.messages


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
