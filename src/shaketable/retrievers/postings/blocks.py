"""Lists of terms → blocks of postings on disk, each ordered by term, so that memory is bounded for any corpus."""

from __future__ import annotations

import array
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shaketable.errors import DataError

TERMS_PER_BLOCK = 4_000_000
ROW = np.int32
CODES = (np.uint16, np.uint32)
"""Of the kinds of postings. A corpus of passages has a few thousand; books may have more than two bytes count."""
Kinds = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Block:
    """The postings of some passages, one list for each of their terms: four arrays in one file."""

    file: Path
    n_lists: int
    n_postings: int
    code: type[Any]

    def lists(self, first: int = 0, last: int | None = None) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Term and size of the lists from `first` to before `last`."""
        n = (self.n_lists if last is None else last) - first
        terms, sizes = (np.fromfile(self.file, np.int32, n, offset=4 * (skip + first)) for skip in (0, self.n_lists))
        return terms, sizes

    def postings(self, first: int, last: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Row and kind of the postings from `first` to before `last`."""
        n_bytes, width = np.dtype(ROW).itemsize, np.dtype(self.code).itemsize
        rows_at = 8 * self.n_lists
        codes_at = rows_at + n_bytes * self.n_postings
        return (
            np.fromfile(self.file, ROW, last - first, offset=rows_at + n_bytes * first),
            np.fromfile(self.file, self.code, last - first, offset=codes_at + width * first),
        )


class BlockWriter:
    """One field of a corpus, passage after passage.

    What a posting adds to its passage depends, but for its term, on how often the passage has the term and how long it
    is. Such a pair is a kind, and a posting keeps its number: a quarter of the bytes of a score, and as exact.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.vocabulary: dict[str, int] = {}
        self.kinds: Kinds = np.zeros(0, np.int64)
        """Times << 32 | length, by code."""
        self.blocks: list[Block] = []
        self.n_passages, self.n_terms = 0, 0
        self._waiting, self._lengths = array.array("i"), array.array("i")

    def add(self, terms: list[str]) -> None:
        """The terms of the next passage."""
        number = self.vocabulary.setdefault
        self._lengths.append(len(terms))
        self._waiting.extend([number(term, len(self.vocabulary)) for term in terms])
        if len(self._waiting) >= TERMS_PER_BLOCK:
            self.write_block()

    def write_block(self) -> None:
        """The postings since the last block, ordered by term and passage."""
        lengths = np.frombuffer(self._lengths, np.int32)
        end = self.n_passages + len(lengths)
        if end > np.iinfo(ROW).max:
            raise DataError(
                f"The corpus has more than {np.iinfo(ROW).max:,} passages, which an index cannot number. "
                "Cut it into several."
            )
        passages = np.repeat(np.arange(self.n_passages, end, dtype=np.int64), lengths)
        pairs = np.frombuffer(self._waiting, np.int32).astype(np.int64) << 32 | passages
        pairs, times = np.unique(pairs, return_counts=True)
        rows = pairs & 0xFFFFFFFF
        codes = self._coded(times.astype(np.int64) << 32 | lengths[rows - self.n_passages])
        terms, sizes = np.unique(pairs >> 32, return_counts=True)
        code = code_type(len(self.kinds))
        file = self.folder / f"block-{len(self.blocks)}"
        with file.open("wb") as sink:
            for part in (terms.astype(np.int32), sizes.astype(np.int32), rows.astype(ROW), codes.astype(code)):
                part.tofile(sink)
        self.blocks.append(Block(file=file, n_lists=len(terms), n_postings=len(rows), code=code))
        self.n_passages, self.n_terms = end, self.n_terms + len(passages)
        self._waiting, self._lengths = array.array("i"), array.array("i")

    def round_lengths(self) -> None:
        """Lengths as Lucene keeps them in a byte: exact below 40, then 24 and four leading bits of the rest."""
        times, over = self.kinds >> 32, (self.kinds & 0xFFFFFFFF) - 24
        n_bits = np.where(over < 16, 0, np.frexp(np.maximum(over, 1).astype(np.float64))[1] - 4)
        self.kinds = times << 32 | (24 + (over >> n_bits << n_bits))

    def _coded(self, kinds: Kinds) -> NDArray[np.int64]:
        """The code of each kind; new ones get the next."""
        self.kinds = np.append(self.kinds, np.setdiff1d(kinds, self.kinds))
        order = np.argsort(self.kinds)
        return order[np.searchsorted(self.kinds, kinds, sorter=order)]


def code_type(n_kinds: int) -> type[Any]:
    return CODES[0] if n_kinds <= np.iinfo(CODES[0]).max + 1 else CODES[1]
