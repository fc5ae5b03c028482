"""Proves that passes in fixed shapes compute what the plain model does, and that neighbours change no bit of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from transformers import DynamicCache

from shaketable.engine.batch_invariance import N_OPENING, STEPS, TOLERANCE
from shaketable.engine.captured.arena import NOTHING, Arena, Segment
from shaketable.engine.captured.graphs import N_COLUMNS, FixedPasses, line_of
from shaketable.engine.captured.pages import Text, pages
from shaketable.engine.prompt_reader import PromptReader

N_PLACES = 4096


@dataclass(frozen=True, slots=True)
class Trial:
    """A row in a slot that writes its number and the next one after a prompt."""

    prompt: Sequence[int]
    n_opening: int
    slot: int
    number: int


def holds(reader: PromptReader, open_passes: Callable[[int], FixedPasses]) -> bool:
    """For passes over a strip of as many places as are asked for."""
    vocabulary = reader.model.get_input_embeddings().num_embeddings
    opening = [(5 * i + 2) % vocabulary for i in range(N_OPENING)]
    long, short = ([*opening, *((7 * i + n) % vocabulary for i in range(n))] for n in (67, 5))
    cache = DynamicCache(config=reader.model.config)
    with torch.inference_mode():
        expected = reader.read([*long, *(3 + step for step in range(STEPS))], cache)[0]
        limit = TOLERANCE[reader.dtype] * float(expected.abs().max())
        try:
            passes = open_passes(N_PLACES)
            for n_opening in (0, N_OPENING):
                alone = _decode(passes, [Trial(long, n_opening, 0, 3)])[0]
                if (alone - expected).abs().max() > limit:
                    return False
                if reader.batching == "exact" and not torch.equal(_among_others(passes, long, short, n_opening), alone):
                    return False
        except torch.OutOfMemoryError:
            raise
        except Exception:  # The model's attention takes another road, or the kernel does not compile for its shape.
            return False
    return True


def _among_others(passes: FixedPasses, long: list[int], short: list[int], n_opening: int) -> torch.Tensor:
    """The same row in the last slot, beside rows of its prompt and of another one."""
    others = range(1, passes.n_slots // 2)
    beside = [Trial(long if i % 3 else short, n_opening if i % 2 else 0, i, 9 + i) for i in others]
    return _decode(passes, [*beside, Trial(long, n_opening, passes.n_slots - 1, 3)])[-1]


def _decode(passes: FixedPasses, trials: Sequence[Trial]) -> list[torch.Tensor]:
    """The logits of each after its own tokens. All prompts are read anew, in the order of the trials."""
    arena, texts = Arena(passes.strip.n_places), dict[tuple[tuple[int, ...], int], tuple[Segment, Segment]]()
    told: list[Text] = []
    table = np.zeros((passes.n_slots, N_COLUMNS), dtype=np.int64)
    for trial in trials:
        key = (tuple(trial.prompt), trial.n_opening)
        if key not in texts:
            opening = _take(arena, trial.n_opening)
            segment = _take(arena, len(trial.prompt) - trial.n_opening)
            texts[key] = opening, segment
            if trial.n_opening:
                told.append(Text(ids=trial.prompt[: trial.n_opening], segment=opening))
            told.append(Text(ids=trial.prompt[trial.n_opening :], segment=segment, opening=opening))
        opening, segment = texts[key]
        table[trial.slot] = line_of(opening, segment, _take(arena, STEPS))
    for page, ends in pages(told, passes.n_read):
        passes.read(page, ends)
    passes.seat(range(passes.n_slots), table, np.zeros((passes.n_slots, 1)), None)
    numbers = torch.zeros(passes.n_slots, dtype=torch.int64)
    for trial in trials:
        numbers[trial.slot] = trial.number
    for step in range(STEPS):
        passes.tokens.copy_(numbers + step)
        passes.advance(passes.n_slots)
    return [passes.logits[trial.slot].clone() for trial in trials]


def _take(arena: Arena, length: int) -> Segment:
    return arena.take(length) or NOTHING
