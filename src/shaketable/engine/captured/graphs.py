"""Passes of a model over tokens in fixed shapes: reading texts, drawing tokens, advancing rows by one token.

On a GPU each is captured once as a graph and replayed: the hundreds of small kernels of a pass then cost no time of
the processor. What changes from step to step (which segments of the strip a row sees, how hot it is) lies in tables
on the device, so one graph serves all prompts, rows and lengths.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from shaketable.engine.captured.arena import TRASH, Segment
from shaketable.engine.captured.seen import N_SEGMENTS, Seen
from shaketable.engine.captured.strip import Strip
from shaketable.engine.checkpoint import Checkpoint
from shaketable.engine.sampling import draw_plainly
from shaketable.engine.shared_prefix import MASKLESS

if TYPE_CHECKING:
    from torch.cuda import _POOL_HANDLE

N_READ = 1024
"""Tokens of a pass that reads, where only one number is used, as a setting would change texts."""
N_ENDS = 64
"""Texts that end in one such pass."""
STARTS, LENGTHS, ROOM = slice(0, N_SEGMENTS), slice(N_SEGMENTS, 2 * N_SEGMENTS), 2 * N_SEGMENTS
"""Columns of the table of rows: their segments, the last of which is their own and grows up to its room."""
OWN_START, OWN_LENGTH = N_SEGMENTS - 1, 2 * N_SEGMENTS - 1
N_COLUMNS = 2 * N_SEGMENTS + 1
ID, POSITION, PLACE, PAGE_STARTS, PAGE_LENGTHS = 0, 1, 2, slice(3, 3 + N_SEGMENTS), slice(3 + N_SEGMENTS, None)
"""Columns of a page: tokens to read, where they stand in their text and in the strip, and what they see."""
N_PAGE_COLUMNS = 3 + 2 * N_SEGMENTS
FIRST_NUMBERS = 256
"""Random numbers of a row that there is room for at first."""
WARM_UPS = 2


class Captured:
    """Work on fixed tensors, which finds everything as it was when it is repeated before its first use."""

    def __init__(self, work: Callable[[], None], changed: Sequence[torch.Tensor], pool: _POOL_HANDLE | None) -> None:
        self.work, self.changed, self.pool = work, changed, pool
        """The tensors that it changes and reads again; the memory that graphs share."""
        self.graph: torch.cuda.CUDAGraph | None = None

    def __call__(self) -> None:
        if self.pool is None:
            self.work()
            return
        if self.graph is None:
            self._capture()
        if self.graph:
            self.graph.replay()

    def _capture(self) -> None:
        before = [tensor.clone() for tensor in self.changed]
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_UPS):
                self.work()
        torch.cuda.current_stream().wait_stream(side)
        for tensor, kept in zip(self.changed, before, strict=True):
            tensor.copy_(kept)
        graph = torch.cuda.CUDAGraph()
        with without_collecting(), torch.cuda.graph(graph, pool=self.pool):
            self.work()
        self.graph = graph


@contextlib.contextmanager
def without_collecting() -> Iterator[None]:
    """Python's garbage may hold graphs of an engine that is not used any more, and CUDA ends a capture in which one
    is destroyed."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class FixedPasses:
    """Rows of a batch in fixed slots, and the passes over them."""

    def __init__(
        self, checkpoint: Checkpoint, *, n_slots: int, n_places: int, page_sizes: Sequence[int] = (N_READ,)
    ) -> None:
        self.checkpoint, self.n_slots, self.n_numbers = checkpoint, n_slots, FIRST_NUMBERS
        self.page_sizes, self.n_read = sorted(page_sizes), max(page_sizes)
        self.strip = Strip(n_places)
        device = checkpoint.device
        self.table = torch.zeros((n_slots, N_COLUMNS), dtype=torch.int64, device=device)
        self.dice = torch.zeros((n_slots, 1 + self.n_numbers), dtype=torch.float64, device=device)
        """Of each row: its temperature and its random numbers."""
        self.tokens = torch.zeros(n_slots, dtype=torch.int64, device=device)
        self.logits = torch.zeros((n_slots, checkpoint.n_logits), dtype=checkpoint.model.dtype, device=device)
        """The next token's, of each row."""
        self.page = torch.zeros((self.n_read, N_PAGE_COLUMNS), dtype=torch.int64, device=device)
        self.wanted = torch.zeros(N_ENDS, dtype=torch.int64, device=device)
        self.ends = self.logits.new_zeros((N_ENDS, checkpoint.n_logits))
        """The logits after the last tokens of the texts that were read."""
        self.forget_graphs()

    def forget_graphs(self) -> None:
        """The tensors that they read and write were replaced."""
        self.pool = torch.cuda.graph_pool_handle() if self.table.is_cuda else None
        self.reading: dict[int, Captured] = {}
        self.drawing: dict[int, Captured] = {}
        self.advancing: dict[int, Captured] = {}
        """By the number of tokens, or of slots."""

    def grow(self, n_places: int) -> None:
        self.forget_graphs()
        self.strip.grow(n_places)

    def make_room_for_numbers(self, n_numbers: int) -> None:
        """Of rows that may grow longer than any before."""
        self.dice = torch.nn.functional.pad(self.dice, (0, n_numbers - self.n_numbers))
        self.n_numbers = n_numbers
        self.drawing = {}

    # --- what a step does ---------------------------------------------------------------------

    def read(self, page: np.ndarray, wanted: Sequence[int]) -> torch.Tensor:
        """Tokens of texts, at most `n_read`, and the logits after those at the wanted places."""
        n_tokens = next(size for size in self.page_sizes if size >= len(page))
        filled = np.zeros((n_tokens, N_PAGE_COLUMNS), dtype=np.int64)
        filled[len(page) :, PLACE] = TRASH
        filled[: len(page)] = page
        _upload(filled, self.page[:n_tokens])
        _upload(np.array([*wanted, *[0] * (N_ENDS - len(wanted))], dtype=np.int64), self.wanted)
        if n_tokens not in self.reading:
            self.reading[n_tokens] = Captured(lambda: self._read(n_tokens), [], self.pool)
        self.reading[n_tokens]()
        return self.ends[: len(wanted)].clone()

    def seat(self, slots: Sequence[int], table: np.ndarray, dice: np.ndarray, logits: torch.Tensor | None) -> None:
        """New rows in the first of these slots, as many as there are logits, and none in the rest."""
        places = self.table.new_empty(len(slots))
        _upload(np.array(slots, dtype=np.int64), places)
        for kept, given in ((self.table, table), (self.dice, dice)):
            new = kept.new_empty(given.shape)
            _upload(given, new)
            kept[:, : given.shape[1]].index_copy_(0, places, new)
        if logits is not None:
            self.logits.index_copy_(0, places[: len(logits)], logits)

    def draw(self, n_slots: int) -> None:
        """The next token of each row among the first slots, unless its truncation or penalty asks for more."""
        if n_slots not in self.drawing:
            self.drawing[n_slots] = Captured(lambda: self._draw(n_slots), [], self.pool)
        self.drawing[n_slots]()

    def advance(self, n_slots: int) -> None:
        """Read the rows' newest tokens."""
        if n_slots not in self.advancing:
            self.advancing[n_slots] = Captured(lambda: self._advance(n_slots), [self.table], self.pool)
        self.advancing[n_slots]()

    # --- what is captured ---------------------------------------------------------------------

    def _read(self, n_tokens: int) -> None:
        page = self.page[:n_tokens]
        seen = Seen(starts=page[:, PAGE_STARTS], lengths=page[:, PAGE_LENGTHS])
        self.ends.copy_(self._forward(page[:, ID], page[:, POSITION], page[:, PLACE], seen, self.wanted))

    def _draw(self, n_slots: int) -> None:
        table, dice = self.table[:n_slots], self.dice[:n_slots]
        turns = table[:, OWN_LENGTH].clamp(max=self.n_numbers - 1) + 1
        numbers = dice.gather(1, turns[:, None])[:, 0]
        self.tokens[:n_slots].copy_(draw_plainly(self.logits[:n_slots], dice[:, 0], numbers))

    def _advance(self, n_slots: int) -> None:
        table = self.table[:n_slots]
        own = table[:, OWN_LENGTH].clone()
        goes_on = own < table[:, ROOM]
        places = torch.where(goes_on, table[:, OWN_START] + own, TRASH)
        positions = table[:, LENGTHS].sum(1)
        table[:, OWN_LENGTH] += goes_on
        seen = Seen(starts=table[:, STARTS], lengths=table[:, LENGTHS])
        self.logits[:n_slots].copy_(self._forward(self.tokens[:n_slots], positions, places, seen, None))

    def _forward(
        self, ids: torch.Tensor, positions: torch.Tensor, places: torch.Tensor, seen: Seen, wanted: torch.Tensor | None
    ) -> torch.Tensor:
        self.strip.expect(places.contiguous(), seen)
        model = self.checkpoint.model
        usual = model.config._attn_implementation
        model.set_attn_implementation(MASKLESS)
        try:
            logits: torch.Tensor = model(
                ids[None].contiguous(),
                position_ids=positions[None].contiguous(),
                past_key_values=self.strip,
                use_cache=True,
                shared=self.strip,
                logits_to_keep=0 if wanted is None else wanted,
            ).logits[0]
        finally:
            model.set_attn_implementation(usual)
        return logits


def line_of(opening: Segment, text: Segment, own: Segment) -> tuple[int, ...]:
    """A row in the table: it sees its opening and its prompt, and has room for tokens of its own."""
    return opening.start, text.start, own.start, opening.length, text.length, 0, own.length


def _upload(array: np.ndarray, tensor: torch.Tensor) -> None:
    """Without waiting for what the device is still doing."""
    staged = torch.from_numpy(array)
    tensor.copy_(staged.pin_memory() if tensor.is_cuda else staged, non_blocking=True)
