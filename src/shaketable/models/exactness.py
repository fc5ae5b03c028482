"""Proves, on this machine with these weights, that a row's logits do not depend on its neighbours.

Matrix libraries choose their kernels by shape, and kernels round differently; near ties then flip
and a resumed run gives other texts. Kernels do not look at the numbers, so comparing bits for the
shapes that occur is a proof for those shapes. Costs a few seconds per model and process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from transformers import DynamicCache

from shaketable.models.shared_prefix import NAME, Prefix

if TYPE_CHECKING:
    from shaketable.models.sweep import Exactness, SweepEngine

FIXED_ROWS = 64
"""The one batch size where only one is used; a setting would change texts."""

STEPS = 2
TOLERANCE = {torch.float32: 1e-3, torch.float16: 2e-2, torch.bfloat16: 8e-2}
"""Of the largest logit: the shared prefix adds the same numbers in another order than the plain model; a greater
difference is another model."""


def prove(engine: SweepEngine) -> Exactness:
    """Leaves the model with the shared-prefix attention, whatever comes out."""
    vocabulary = engine.model.get_input_embeddings().num_embeddings
    prompts = [[(7 * i + shift) % vocabulary for i in range(length)] for shift, length in ((5, 41), (11, 67))]
    expected = engine.read(
        [*prompts[0], *(3 + step for step in range(STEPS))], DynamicCache(config=engine.model.config)
    )
    try:
        engine.model.set_attn_implementation(NAME)
        alone = [_decode(engine, [prompts[0]], [rows])[0] for rows in ([3], [8])]
    except (TypeError, ValueError, RuntimeError, AttributeError, IndexError):
        return "alone"  # The model's attention takes another road than the interface we plug into.
    if (alone[0] - expected).abs().max() > TOLERANCE[expected.dtype] * expected.abs().max():
        return "alone"
    # A GPU's library picks kernels by size in ways that no sample of sizes can settle.
    if engine.device == "cpu" and _holds(engine, prompts, alone):
        return "any"
    return "fixed" if _holds_fixed(engine, prompts[0]) else "alone"


def _holds(engine: SweepEngine, prompts: list[list[int]], alone: list[torch.Tensor]) -> bool:
    """Rows 3 and 8 alone, in batches of many sizes, at other places, and beside another prompt."""
    for size, beside in ((2, 0), (5, 0), (16, 0), (33, 0), (engine.n_rows, 0), (3, 1), (13, engine.n_rows)):
        rows = [9, 3, 8, *range(10, 10 + size)][:size]
        groups, queries = [prompts[0]], [rows]
        if beside:
            groups, queries = [prompts[1], prompts[0]], [list(range(20, 20 + beside)), rows]
        logits = _decode(engine, groups, queries)[-1]
        for row, expected in ((3, alone[0]), (8, alone[1])):
            if row in rows and not torch.equal(logits[rows.index(row)], expected[0]):
                return False
    return True


def _holds_fixed(engine: SweepEngine, prompt: list[int]) -> bool:
    """At the one shape that is used, a row's place and its neighbours change nothing."""
    n_rows = FIXED_ROWS
    first = _decode(engine, [prompt], [[3, 8] + [9] * (n_rows - 2)])[0]
    second = _decode(engine, [prompt], [[*range(20, 20 + n_rows - 2), 8, 3]])[0]
    return torch.equal(first[0], second[-1]) and torch.equal(first[1], second[-2])


def _decode(engine: SweepEngine, prompts: list[list[int]], rows: list[list[int]]) -> list[torch.Tensor]:
    """Logits after a few fixed own tokens: row r writes r, r + 1."""
    prefixes = []
    for prompt, own in zip(prompts, rows, strict=True):
        cache = DynamicCache()
        engine.read(prompt, cache)
        prefixes.append(Prefix(cache, len(own)))
    for step in range(STEPS):
        logits = engine.advance(prefixes, [row + step for own in rows for row in own])
    return list(logits.split([prefix.n_rows for prefix in prefixes]))
