"""Proves, on this machine with these weights, that a row's logits do not depend on its neighbours.

Matrix libraries choose their kernels by shape, and kernels round differently; near ties then flip
and a resumed run gives other texts. Kernels do not look at the numbers, so comparing bits for the
shapes that occur is a proof for those shapes. Costs a few seconds per model and process.
"""

from __future__ import annotations

from typing import Literal

import torch
from transformers import DynamicCache

from shaketable.engine.prompt_reader import PromptReader
from shaketable.engine.row_pool import FIXED_ROWS, RowPools
from shaketable.engine.shared_prefix import NAME, ReadPrompt
from shaketable.engine.side_by_side import AT_ONCE

Invariance = Literal["any", "fixed", "alone"]
"""In which batches a row has the bits that it has alone: `any`, of any number in any order; `fixed`, always of as many
rows; `alone`, in none."""
N_OPENING = 37
"""Tokens that the prompts of the proof begin with."""
WATCHED = (3, 8, 14, 21, 30)
"""First tokens of the rows that are compared."""
STEPS = 2
TOLERANCE = {torch.float32: 1e-3, torch.float16: 2e-2, torch.bfloat16: 8e-2}
"""Of the largest logit: the shared prefix adds the same numbers in another order than the plain model; a greater
difference is another model."""


def prove(reader: PromptReader) -> Invariance:
    """Leaves the model with the shared-prefix attention, whatever comes out."""
    vocabulary = reader.model.get_input_embeddings().num_embeddings
    opening = [(5 * i + 2) % vocabulary for i in range(N_OPENING)]
    prompts = [opening + [(7 * i + shift) % vocabulary for i in range(length)] for shift, length in ((5, 41), (11, 67))]
    expected = reader.read(
        [*prompts[0], *(WATCHED[0] + step for step in range(STEPS))], DynamicCache(config=reader.model.config)
    )
    try:
        reader.model.set_attn_implementation(NAME)
        # The two ways to keep a prompt, and another prompt in both.
        asked = [(prompt, n) for prompt in prompts for n in (0, N_OPENING)]
        read_alone = [reader.read_prompts([with_opening])[0] for with_opening in asked]
        reads = [read for read, _ in read_alone]
        alone = [{row: decode(reader, [read], [[row]])[0][0] for row in WATCHED} for read in reads[:2]]
    except (TypeError, ValueError, RuntimeError, AttributeError, IndexError):
        return "alone"  # The model's attention takes another road than the interface we plug into.
    limit = TOLERANCE[expected.dtype] * expected.abs().max()
    if any((logits[WATCHED[0]] - expected).abs().max() > limit for logits in alone):
        return "alone"
    # A GPU's library picks kernels by size in ways that no sample of sizes can settle.
    if reader.device == "cpu" and _holds(reader, reads, alone) and _holds_reading(reader, asked, read_alone):
        return "any"
    return "fixed" if _holds_fixed(reader, reads) else "alone"


def _holds(reader: PromptReader, reads: list[ReadPrompt], alone: list[dict[int, torch.Tensor]]) -> bool:
    """Rows alone, in batches of many sizes, each in the last place once, where routines differ first, and beside
    another prompt."""
    half = -(-reader.n_rows // 2)
    for turn, (size, beside) in enumerate(((2, 0), (5, 0), (16, 0), (33, 0), (half, 0), (3, 1), (13, half))):
        watched = [WATCHED[(turn + i) % len(WATCHED)] for i in range(len(WATCHED))]
        rows = [*range(40, 40 + size), *watched][-size:]
        others = [list(range(20, 20 + beside))] * 2 if beside else []
        decoded = decode(reader, [*reads[2:], *reads[:2]] if beside else reads[:2], [*others, rows, rows])[-2:]
        for logits, expected in zip(decoded, alone, strict=True):
            if not all(torch.equal(logits[rows.index(row)], expected[row]) for row in watched if row in rows):
                return False
    return True


def _holds_reading(
    reader: PromptReader, prompts: list[tuple[list[int], int]], alone: list[tuple[ReadPrompt, torch.Tensor]]
) -> bool:
    """Prompts that are read beside others, few and many tokens, after them and before them."""
    n_many = min(AT_ONCE // 2, reader.window - N_OPENING)
    many = [(prompts[0][0][:N_OPENING] + prompts[0][0][:1] * n_many, N_OPENING)]
    for before, after in ((prompts[:1], []), ([], many)):
        together = reader.read_prompts([*before, *prompts, *after])[len(before) :]
        for (read, logits), (own, expected) in zip(together, alone, strict=False):
            pairs = [(logits, expected)]
            for layer, own_layer in zip(read.cache.layers, own.cache.layers, strict=True):
                pairs += [(layer.keys, own_layer.keys), (layer.values, own_layer.values)]
            if not all(torch.equal(mine, other) for mine, other in pairs):
                return False
    return True


def _holds_fixed(reader: PromptReader, reads: list[ReadPrompt]) -> bool:
    """In the shapes that are used, a row's place and its neighbours change nothing, be they of its prompt, of another
    or idle."""
    reader.pools = RowPools(is_fixed=True)
    half = FIXED_ROWS // 2
    for n, read in enumerate(reads):
        other = reads[n - 1]
        alone = decode(reader, [read], [[3, 8]])[0]
        among = decode(reader, [read], [[*range(20, 20 + FIXED_ROWS - 2), 8, 3]])[0]
        beside = decode(reader, [other, read], [[9] * half, [*range(20, 20 + half - 2), 8, 3]])[1]
        if not all(torch.equal(alone[i], logits[-1 - i]) for logits in (among, beside) for i in (0, 1)):
            return False
    return True


def decode(reader: PromptReader, reads: list[ReadPrompt], rows: list[list[int]]) -> list[torch.Tensor]:
    """Logits after a few fixed own tokens: row r writes r, r + 1."""
    prefixes = [reader.prefix(read, len(own)) for read, own in zip(reads, rows, strict=True)]
    for step in range(STEPS):
        logits = reader.advance(prefixes, [row + step for own in rows for row in own])
    for prefix in prefixes:
        prefix.keep([])
    return list(torch.split(logits, [len(own) for own in rows]))
