"""Blocks of postings ↔ a BM25 index on disk, which is written list after list and mapped into memory to be read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from shaketable.retrievers.postings.blocks import ROW, BlockWriter

LAYOUT = 2
"""Raised when the files below are written in another way."""
POSTINGS_AT_ONCE = 8_000_000
ARRAYS = ("starts", "rows", "codes", "shares", "idf", "peaks", "floors")
DEPTHS = (10, 100)
"""Numbers of hits for which an index knows what as many postings of a term have."""
Numbers = NDArray[np.float64]


class Field:
    """One field of a corpus. The postings of a term are `rows` and `codes` from `starts[term]` to `starts[term + 1]`;
    each adds `idf[term] * shares[code]` to its passage, `peaks[term]` at most, and as many postings as each of the
    `DEPTHS` has add `floors[term]` at least."""

    def __init__(self, folder: Path) -> None:
        words = (folder / "terms.txt").read_text("utf-8").split("\n")
        self.vocabulary = {word: number for number, word in enumerate(words) if word}
        # Plain views of the mapped files: numpy takes its time over each look into a memmap.
        self.starts, self.rows, self.codes, self.shares, self.idf, self.peaks, self.floors = (
            np.load(folder / f"{name}.npy", mmap_mode="r").view(np.ndarray) for name in ARRAYS
        )
        self.postings = self.rows, self.codes, self.shares


def write_index(field: BlockWriter, code: type[Any], *, k1: float, b: float) -> dict[str, int]:
    """The index of a field beside its blocks, which go; how much is in it. Kinds are numbers of the type `code`."""
    from shaketable.retrievers.postings.search import nth_best

    folder, starts = field.folder, _starts(field)
    # As Lucene: idf = ln(1 + (N - n + 0.5) / (n + 0.5)), times tf / (tf + k1 (1 - b + b length / average length)).
    frequency = np.diff(starts)
    times, lengths = field.kinds >> 32, field.kinds & 0xFFFFFFFF
    average = max(field.n_terms / max(field.n_passages, 1), 1e-9)
    shares = times / (times + k1 * (1 - b + b * lengths / average))
    idf = np.log(1 + (field.n_passages - frequency + 0.5) / (frequency + 0.5))
    floors, n_terms = np.zeros((len(frequency), 1 + len(DEPTHS))), 0
    with (folder / "rows.npy").open("wb") as rows_file, (folder / "codes.npy").open("wb") as codes_file:
        _write_header(rows_file, ROW, int(starts[-1]))
        _write_header(codes_file, code, int(starts[-1]))
        for first, last, rows, codes in _merged(field, starts, code):
            rows.tofile(rows_file)
            codes.tofile(codes_file)
            for column, depth in enumerate((1, *DEPTHS)):
                floors[first:last, column] = nth_best(shares, codes, starts[first : last + 1] - starts[first], depth)
            n_terms += int(times[codes].sum())
    if n_terms != field.n_terms:
        raise AssertionError(f"{n_terms:,} terms reached the index of {field.n_terms:,} that were put in.")
    floors *= idf[:, None]
    arrays = {
        "starts": starts,
        "shares": shares,
        "idf": idf,
        "peaks": floors[:, 0].copy(),
        "floors": floors[:, 1:].copy(),
    }
    for name, numbers in arrays.items():
        np.save(folder / f"{name}.npy", numbers)
    (folder / "terms.txt").write_text("\n".join(field.vocabulary), "utf-8")
    for block in field.blocks:
        block.file.unlink()
    return {"n_distinct_terms": len(frequency), "n_terms": n_terms, "n_postings": int(starts[-1])}


def _starts(field: BlockWriter) -> NDArray[np.int64]:
    """Where the list of each term begins, and the end of the last. Offsets have 64 bits: 21 million passages of a
    hundred words have more than a billion postings."""
    frequency = np.zeros(len(field.vocabulary), np.int64)
    for block in field.blocks:
        terms, sizes = block.lists()
        frequency[terms] += sizes
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(frequency)])


def _merged(
    field: BlockWriter, starts: NDArray[np.int64], code: type[Any]
) -> Iterator[tuple[int, int, NDArray[Any], NDArray[Any]]]:
    """Some terms after others (first, last), with their postings from all blocks, by term and then by passage."""
    limits = _limits(starts)
    cuts = []
    for block in field.blocks:
        terms, sizes = block.lists()
        lists = np.searchsorted(terms, limits)
        cuts.append((lists, np.append(0, np.cumsum(sizes, dtype=np.int64))[lists]))
    for number, (first, last) in enumerate(pairwise(limits)):
        rows, codes = (np.empty(starts[last] - starts[first], kind) for kind in (ROW, code))
        ends = starts[first:last] - starts[first]
        for block, (lists, postings) in zip(field.blocks, cuts, strict=True):
            terms, sizes = block.lists(lists[number], lists[number + 1])
            places = np.repeat(ends[terms - first] - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
            rows[places], codes[places] = block.postings(postings[number], postings[number + 1])
            ends[terms - first] += sizes
        if not np.array_equal(ends, starts[first + 1 : last + 1] - starts[first]):
            raise AssertionError(f"The lists of the terms {first:,} to {last:,} are not whole.")
        yield first, last, rows, codes


def _limits(starts: NDArray[np.int64]) -> list[int]:
    """Terms at which to cut, so that those between two cuts have few postings, or are one."""
    limits = [0]
    while limits[-1] < len(starts) - 1:
        full = int(np.searchsorted(starts, starts[limits[-1]] + POSTINGS_AT_ONCE, side="right")) - 1
        limits.append(max(full, limits[-1] + 1))
    return limits


def _write_header(file: IO[bytes], kind: type[Any], n: int) -> None:
    described = {"descr": np.lib.format.dtype_to_descr(np.dtype(kind)), "fortran_order": False, "shape": (n,)}
    np.lib.format.write_array_header_2_0(file, described)
