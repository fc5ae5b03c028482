"""Proves that passes in fixed shapes compute what the plain model does, and that neighbours change no bit of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from transformers import DynamicCache

from shaketable.engine.arena import NOTHING, Arena, Segment
from shaketable.engine.batch_invariance import N_OPENING, STEPS, TOLERANCE
from shaketable.engine.captured import N_COLUMNS, FixedPasses
from shaketable.engine.pages import Text, pages

if TYPE_CHECKING:
    from shaketable.engine.captured_engine import CapturedEngine

N_PLACES = 4096


@dataclass(frozen=True, slots=True)
class Trial:
    """A row in a slot that writes its number and the next one after a prompt."""

    prompt: Sequence[int]
    n_opening: int
    slot: int
    number: int


def holds(engine: CapturedEngine) -> bool:
    vocabulary = engine.model.get_input_embeddings().num_embeddings
    opening = [(5 * i + 2) % vocabulary for i in range(N_OPENING)]
    long, short = ([*opening, *((7 * i + n) % vocabulary for i in range(n))] for n in (67, 5))
    cache = DynamicCache(config=engine.model.config)
    with torch.inference_mode():
        expected = engine.read([*long, *(3 + step for step in range(STEPS))], cache)[0]
        try:
            return _agree(engine, expected, long, short)
        except torch.OutOfMemoryError:
            raise
        except Exception:  # The model's attention takes another road, or the kernel does not compile for its shape.
            return False


def _agree(engine: CapturedEngine, expected: torch.Tensor, long: list[int], short: list[int]) -> bool:
    limit = TOLERANCE[engine.dtype] * expected.abs().max()
    passes = engine.open_passes(N_PLACES)
    last, others = engine.n_slots - 1, range(1, engine.n_slots // 2)
    for n_opening in (0, N_OPENING):
        alone = _decode(passes, [Trial(long, n_opening, 0, 3)])[0]
        if (alone - expected).abs().max() > limit:
            return False
        if engine.batching == "free":
            continue
        beside = [Trial(long if i % 3 else short, n_opening if i % 2 else 0, i, 9 + i) for i in others]
        among = _decode(passes, [*beside, Trial(long, n_opening, last, 3)])[-1]
        if not torch.equal(among, alone):
            return False
    return True


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
        own = _take(arena, STEPS)
        table[trial.slot] = (
            *(opening.start, segment.start, own.start), *(opening.length, segment.length, 0), STEPS
        )  # fmt: skip
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
