"""Proves, on this machine with these weights, that a row's logits do not depend on its neighbours.

Matrix libraries choose their kernels by shape, and kernels round differently; near ties then flip
and a resumed run gives other texts. Kernels do not look at the numbers, so comparing bits for the
shapes that occur is a proof for those shapes. Where only products of very few rows differ, the proof finds how
many rows are enough, and the engine never multiplies fewer. Where that is not enough, every product is made in pieces
of as many rows. Costs a few seconds; `proof_cache` keeps what came out, and each check on the way there, so that a
process that is killed after a few seconds, again and again, gets to its end.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import torch
from transformers import DynamicCache

from shaketable.engine.fixed_products import PRODUCT_ROWS
from shaketable.engine.kept_tokens import KEPT_BLOCK, KeptTokens
from shaketable.engine.narrow_weights import is_narrow, widened
from shaketable.engine.prefix import Pools, ReadPrompt
from shaketable.engine.prompt_reader import PromptReader
from shaketable.engine.proof import Checks, Proof
from shaketable.engine.retracing import retrace
from shaketable.engine.row_pool import FIXED_ROWS, SMALL_BLOCK, PooledRow
from shaketable.engine.shared_prefix import NAME
from shaketable.engine.side_by_side import AT_ONCE

LEAST_ROWS = (1, 2, 4, 8, 16)
"""Tried one after the other."""
N_OPENING = 37
"""Tokens that the prompts of the proof begin with."""
WATCHED = (3, 8, 14, 21, 30)
"""First tokens of the rows that are compared."""
SMALL_SIZES = (2, 3, 4, 5, 6, 7, 9, 12, 16, 17, 33)
"""Of batches: routines for few rows differ most."""
SHORT_TEXTS = (1, 2, 3, 5)
"""Tokens that follow an opening in prompts whose reading is compared."""
CONTINUED = 2
"""Prompts that go on from each other, at most."""
STEPS = 2
RETRACED = SMALL_BLOCK + 2
"""Tokens of a row that are read again: more than the room that it has at first."""
TOLERANCE = {"float32": 1e-3, "float16": 2e-2, "bfloat16": 8e-2, "int8": 8e-2}
"""Of the largest logit: the shared prefix adds the same numbers in another order than the plain model; a greater
difference is another model."""


def prove(reader: PromptReader, checks: Checks) -> Proof:
    """Leaves the model with the shared-prefix attention, whatever comes out.

    Narrow layers round a last bit away, from these eyes too, until it turns a number one day: what stands between them
    is proved beside wide layers first.
    """
    if not is_narrow(reader.model):
        return _prove(reader, LEAST_ROWS, checks)
    with widened(reader.model):
        wide = _prove(reader, LEAST_ROWS, checks.named("wide"))
    _start_anew(reader, least_rows=1)
    reader.multiply(0)
    if wide.way == "alone":
        return wide
    tried = [n for n in LEAST_ROWS if n >= wide.least_rows] if wide.way == "any" else ()
    return _prove(reader, tried, checks.named("narrow"))


def _prove(reader: PromptReader, tried: Sequence[int], checks: Checks) -> Proof:
    vocabulary = reader.model.get_input_embeddings().num_embeddings
    opening = [(5 * i + 2) % vocabulary for i in range(N_OPENING)]
    prompts = [opening + [(7 * i + shift) % vocabulary for i in range(length)] for shift, length in ((5, 41), (11, 67))]
    # The two ways to keep a prompt, and another prompt in both.
    asked = [(prompt, n) for prompt in prompts for n in (0, N_OPENING)]
    if not checks.holds("the shared prefix fits", lambda: _fits(reader, asked)):
        return Proof(way="alone")
    reader.model.set_attn_implementation(NAME)
    # A GPU's library picks kernels by size in ways that no sample of sizes can settle.
    if reader.device == "cpu":
        for least_rows in tried:
            if _holds_from(reader, least_rows, asked, checks.named(f"from {least_rows} rows")):
                named = checks.named(f"from {least_rows} rows")
                return Proof(way="any", least_rows=least_rows, retraces=_retraces(reader, asked, named))
        reader.multiply(PRODUCT_ROWS)
        if _holds_from(reader, 1, asked, checks.named("in pieces")):
            retraces = _retraces(reader, asked, checks.named("in pieces"))
            return Proof(way="fixed", product_rows=PRODUCT_ROWS, retraces=retraces)
        reader.multiply(0)
    _start_anew(reader, least_rows=1)
    return Proof(
        way="fixed" if _holds_fixed(reader, [read for read, _ in _read_one_by_one(reader, asked)]) else "alone"
    )


def _fits(reader: PromptReader, asked: list[tuple[list[int], int]]) -> bool:
    """Whether the shared prefix gives what the plain model does; leaves the model with it."""
    expected = reader.read(
        [*asked[0][0], *(WATCHED[0] + step for step in range(STEPS))], DynamicCache(config=reader.model.config)
    )
    try:
        reader.model.set_attn_implementation(NAME)
        reads = [read for read, _ in _read_one_by_one(reader, asked)]
        written = [decode(reader, [read], [[WATCHED[0]]])[0][0] for read in reads[:2]]
    except (TypeError, ValueError, RuntimeError, AttributeError, IndexError):
        return False  # The model's attention takes another road than the interface we plug into.
    limit = TOLERANCE[reader.dtype] * expected.abs().max()
    return not any((logits - expected).abs().max() > limit for logits in written)


def _start_anew(reader: PromptReader, *, least_rows: int) -> None:
    reader.least_rows = least_rows
    reader.openings.clear()
    reader.kept = None


def _read_one_by_one(
    reader: PromptReader, prompts: list[tuple[list[int], int]]
) -> list[tuple[ReadPrompt, torch.Tensor]]:
    """Each whole."""
    return [_read_whole(reader, [prompt])[0] for prompt in prompts]


def _read_whole(reader: PromptReader, prompts: list[tuple[list[int], int]]) -> list[tuple[ReadPrompt, torch.Tensor]]:
    if reader.kept is not None:
        reader.kept.clear()
    return reader.read_prompts(prompts)


def _holds_from(reader: PromptReader, least_rows: int, prompts: list[tuple[list[int], int]], checks: Checks) -> bool:
    """Whether products of any number of rows agree, if those with fewer are filled up to this many."""
    _start_anew(reader, least_rows=least_rows)
    reader.kept = None if reader.pools.product_rows else KeptTokens()
    alone = functools.cache(lambda: _read_one_by_one(reader, prompts))
    row_alone = functools.cache(lambda n, row: decode(reader, [alone()[n][0]], [[row]])[0][0])
    for n, (rows, n_beside) in enumerate(_batches(reader.n_rows)):
        name = f"decoding {n}: {len(rows)} rows beside {n_beside}"  # A size may come twice, with other rows at its end.
        if not checks.holds(name, lambda: _holds_decoding(reader, alone(), row_alone, rows, n_beside)):  # noqa: B023
            return False
    if not checks.holds("reading", lambda: _holds_reading(reader, prompts, alone())):
        return False
    return reader.kept is None or all(
        checks.holds(f"continuing {n}", functools.partial(_holds_continuing, reader, prompt, prompts[0]))
        for n, prompt in enumerate([*prompts[:2], _long_prompt(reader, prompts)])
    )


def _batches(n_rows: int) -> list[tuple[list[int], int]]:
    """Rows of a prompt in batches of many sizes, each watched one in the last place once, where routines differ first;
    and how many rows of other prompts are beside them."""
    half = -(-n_rows // 2)
    sizes = [(size, 0) for size in (*SMALL_SIZES, half)] + [(1, 1), (3, 1), (13, half)]
    turned = [[WATCHED[(turn + i) % len(WATCHED)] for i in range(len(WATCHED))] for turn in range(len(sizes))]
    return [
        ([*range(40, 40 + size), *watched][-size:], n_beside)
        for (size, n_beside), watched in zip(sizes, turned, strict=True)
    ]


def _holds_decoding(
    reader: PromptReader,
    reads: list[tuple[ReadPrompt, torch.Tensor]],
    row_alone: Callable[[int, int], torch.Tensor],
    rows: list[int],
    n_beside: int,
) -> bool:
    """Whether the watched rows of two prompts have the bits that they have alone."""
    asked = [read for read, _ in reads]
    others = [list(range(20, 20 + n_beside))] * 2 if n_beside else []
    decoded = decode(reader, [*asked[2:], *asked[:2]] if n_beside else asked[:2], [*others, rows, rows])[-2:]
    return all(
        torch.equal(logits[place], row_alone(n, row))
        for n, logits in enumerate(decoded)
        for place, row in enumerate(rows)
        if row in WATCHED
    )


def _holds_reading(
    reader: PromptReader, prompts: list[tuple[list[int], int]], alone: list[tuple[ReadPrompt, torch.Tensor]]
) -> bool:
    """Prompts that are read beside others, few and many tokens, after them and before them; and very short ones."""
    opening = prompts[0][0][:N_OPENING]
    many = [_long_prompt(reader, prompts)]
    short = [(opening + opening[:n], N_OPENING) for n in SHORT_TEXTS]
    alone = [*alone, *_read_one_by_one(reader, short)]
    for before, after in ((prompts[:1], []), ([], many)):
        together = _read_whole(reader, [*before, *prompts, *short, *after])[len(before) :]
        if not all(map(_is_same, together, alone)):
            return False
    return True


def _long_prompt(reader: PromptReader, prompts: list[tuple[list[int], int]]) -> tuple[list[int], int]:
    opening = prompts[0][0][:N_OPENING]
    return opening + opening[:1] * min(AT_ONCE // 2, reader.window - N_OPENING), N_OPENING


def _holds_continuing(reader: PromptReader, prompt: tuple[list[int], int], other: tuple[list[int], int]) -> bool:
    """A prompt of which as many tokens as may be are kept, beside another and alone."""
    ids, n_opening = prompt
    ends = list(range(n_opening + 2 * KEPT_BLOCK, len(ids), 3 * KEPT_BLOCK + 5))[-CONTINUED:]
    cut = [(ids[:end], n_opening) for end in (*ends, len(ids))]
    alone = _read_one_by_one(reader, cut)
    one_after_another = [reader.read_prompts([shorter])[0] for shorter in cut]
    _read_whole(reader, cut[:1])
    beside = reader.read_prompts([other, *cut])[1:]
    return all(map(_is_same, (*one_after_another, *beside), (*alone, *alone)))


def _retraces(reader: PromptReader, prompts: list[tuple[list[int], int]], checks: Checks) -> bool:
    """Whether tokens of a row have the same bits when they are read again. Through a window steps at different places
    see different parts of a prompt: not then."""
    return not reader.has_window and checks.holds("retracing", lambda: _holds_retracing(reader, prompts[:2]))


def _holds_retracing(reader: PromptReader, prompts: list[tuple[list[int], int]]) -> bool:
    ids = [WATCHED[0] + step for step in range(RETRACED)]
    for read, _ in _read_one_by_one(reader, prompts):
        stepped = reader.prefix(read, 1)
        for token in ids:
            expected = reader.advance([stepped], [token])
        retraced, logits = retrace(reader, read, [ids])
        own = (_own_tokens(prefix.rows[0]) for prefix in (retraced, stepped))
        pairs = [(logits, expected), *zip(*own, strict=True)]
        for prefix in (stepped, retraced):
            prefix.keep([])
        if not all(torch.equal(mine, theirs) for mine, theirs in pairs):
            return False
    return True


def _own_tokens(row: PooledRow) -> list[torch.Tensor]:
    return [layer[row.slot, :, : row.length] for layers in row.pool.tensors for layer in layers]


def _is_same(first: tuple[ReadPrompt, torch.Tensor], other: tuple[ReadPrompt, torch.Tensor]) -> bool:
    """Bit by bit."""
    (read, logits), (own, expected) = first, other
    pairs = [(logits, expected), *zip(read.keys, own.keys, strict=True), *zip(read.values, own.values, strict=True)]
    return all(torch.equal(mine, theirs) for mine, theirs in pairs)


def _holds_fixed(reader: PromptReader, reads: list[ReadPrompt]) -> bool:
    """In the shapes that are used, a row's place and its neighbours change nothing, be they of its prompt, of another
    or idle."""
    reader.pools = Pools(is_fixed=True)
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
