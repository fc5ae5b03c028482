"""Proves, on this machine with these weights, that a row's logits do not depend on its neighbours.

Matrix libraries choose their kernels by shape, and kernels round differently; near ties then flip
and a resumed run gives other texts. Kernels do not look at the numbers, so comparing bits for the
shapes that occur is a proof for those shapes. Costs a few seconds per model and process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from transformers import DynamicCache

from shaketable.models.shared_prefix import NAME

if TYPE_CHECKING:
    from shaketable.models.sweep import Exactness, SweepEngine

FIXED_ROWS = 64
"""The one batch size where only one is used; a setting would change texts."""

N_OPENING = 37
"""Tokens that the prompts of the proof begin with."""
WATCHED = (3, 8, 14, 21, 30)
"""First tokens of the rows that are compared."""
STEPS = 2
TOLERANCE = {torch.float32: 1e-3, torch.float16: 2e-2, torch.bfloat16: 8e-2}
"""Of the largest logit: the shared prefix adds the same numbers in another order than the plain model; a greater
difference is another model."""


def prove(engine: SweepEngine) -> Exactness:
    """Leaves the model with the shared-prefix attention, whatever comes out."""
    vocabulary = engine.model.get_input_embeddings().num_embeddings
    opening = [(5 * i + 2) % vocabulary for i in range(N_OPENING)]
    prompts = [opening + [(7 * i + shift) % vocabulary for i in range(length)] for shift, length in ((5, 41), (11, 67))]
    expected = engine.read(
        [*prompts[0], *(3 + step for step in range(STEPS))], DynamicCache(config=engine.model.config)
    )
    try:
        engine.model.set_attn_implementation(NAME)
        alone = {row: _decode(engine, [prompts[0]], [[row]])[0][0] for row in WATCHED}
    except (TypeError, ValueError, RuntimeError, AttributeError, IndexError):
        return "alone"  # The model's attention takes another road than the interface we plug into.
    if (alone[WATCHED[0]] - expected).abs().max() > TOLERANCE[expected.dtype] * expected.abs().max():
        return "alone"
    # A GPU's library picks kernels by size in ways that no sample of sizes can settle.
    if engine.device == "cpu" and _holds(engine, prompts, alone):
        return "any"
    return "fixed" if _holds_fixed(engine, prompts[0]) else "alone"


def _holds(engine: SweepEngine, prompts: list[list[int]], alone: dict[int, torch.Tensor]) -> bool:
    """Rows alone, in batches of many sizes, each in the last place once, where routines differ first, and beside
    another prompt."""
    for turn, (size, beside) in enumerate(
        ((2, 0), (5, 0), (16, 0), (33, 0), (engine.n_rows, 0), (3, 1), (13, engine.n_rows))
    ):
        watched = [WATCHED[(turn + i) % len(WATCHED)] for i in range(len(WATCHED))]
        rows = [*range(40, 40 + size), *watched][-size:]
        groups, queries = [prompts[0]], [rows]
        if beside:
            groups, queries = [prompts[1], prompts[0]], [list(range(20, 20 + beside)), rows]
        logits = _decode(engine, groups, queries)[-1]
        if not all(torch.equal(logits[rows.index(row)], alone[row]) for row in watched if row in rows):
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
    prefixes = [engine.read_prefix(prompt, N_OPENING, len(own))[0] for prompt, own in zip(prompts, rows, strict=True)]
    for step in range(STEPS):
        logits = engine.advance(prefixes, [row + step for own in rows for row in own])
    return list(logits.split([prefix.n_rows for prefix in prefixes]))
