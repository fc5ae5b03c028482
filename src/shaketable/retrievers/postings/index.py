"""Lists of terms → a BM25 index in the files of bm25s, built in blocks so that any number of passages fits."""

from __future__ import annotations

import array
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

TERMS_PER_BLOCK = 8_000_000
PEAKS = "peaks.npy"


class IndexWriter:
    """One field of a corpus → the arrays that `bm25s.BM25.load` reads, and the largest score of each term.

    bm25s builds the same arrays (method `lucene`), but holds all of them several times in memory while it does.
    Scores are doubles: in 20,000 pairs of neighbors one or two are nearer than single precision can tell.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.vocabulary: dict[str, int] = {}
        self.lengths = array.array("i")
        self.waiting, self.first = array.array("i"), 0
        self.blocks: list[Path] = []

    def add(self, terms: list[str]) -> None:
        """The terms of the next passage."""
        number = self.vocabulary.setdefault
        self.lengths.append(len(terms))
        self.waiting.extend([number(term, len(self.vocabulary)) for term in terms])
        if len(self.waiting) >= TERMS_PER_BLOCK:
            self._write_block()

    def finish(self, *, k1: float, b: float) -> dict[str, int]:
        """Write the index, and tell how much is in it."""
        self._write_block()
        lengths = np.frombuffer(self.lengths, np.int32)
        counts = _write_scores(self.folder, self.blocks, lengths, len(self.vocabulary), k1, b)
        (self.folder / "vocab.index.json").write_text(json.dumps(self.vocabulary, ensure_ascii=False), "utf-8")
        parameters = {"k1": k1, "b": b, "method": "lucene", "dtype": "float64", "num_docs": len(lengths)}
        (self.folder / "params.index.json").write_text(json.dumps(parameters), "utf-8")
        for block in self.blocks:
            block.unlink()
        return {"n_passages": len(lengths), "n_distinct_terms": len(self.vocabulary), **counts}

    def _write_block(self) -> None:
        """The postings since the last block, ordered by term and passage: rows of terms, passages and counts."""
        sizes = np.frombuffer(self.lengths, np.int32)[self.first :]
        passages = np.repeat(np.arange(self.first, len(self.lengths), dtype=np.int64), sizes)
        pairs = np.frombuffer(self.waiting, np.int32).astype(np.int64) << 32 | passages
        pairs, counts = np.unique(pairs, return_counts=True)
        file = self.folder / f"block-{len(self.blocks)}.npy"
        np.save(file, np.stack([pairs >> 32, pairs & 0xFFFFFFFF, counts]).astype(np.int32))
        self.blocks.append(file)
        self.waiting, self.first = array.array("i"), len(self.lengths)


def _write_scores(
    folder: Path, blocks: list[Path], lengths: NDArray[np.int32], n_vocabulary: int, k1: float, b: float
) -> dict[str, int]:
    """Every posting goes to its place, term by term, with the score that it adds to its passage."""
    frequency = np.zeros(n_vocabulary, np.int64)
    for block in blocks:
        frequency += np.bincount(np.load(block, mmap_mode="r")[0], minlength=n_vocabulary)
    starts = np.concatenate([[0], np.cumsum(frequency)])
    n_postings = int(starts[-1])
    scores: Any = np.lib.format.open_memmap(folder / "data.csc.index.npy", "w+", np.float64, (n_postings,))
    places: Any = np.lib.format.open_memmap(folder / "indices.csc.index.npy", "w+", np.int32, (n_postings,))
    np.save(folder / "indptr.csc.index.npy", starts)
    # As Lucene: idf = ln(1 + (N - n + 0.5) / (n + 0.5)), times tf / (tf + k1 (1 - b + b length / average length)).
    idf = np.log(1 + (len(lengths) - frequency + 0.5) / (frequency + 0.5))
    penalty = k1 * (1 - b + b * lengths / max(lengths.mean(), 1e-9))
    ends, n_tokens = starts[:-1].copy(), 0
    for block in blocks:
        terms, passages, counts = np.load(block)
        own_terms, runs = np.unique(terms, return_index=True)
        size = np.diff(np.append(runs, len(terms)))
        slots = np.arange(len(terms)) + np.repeat(ends[own_terms] - runs, size)
        scores[slots] = idf[terms] * (counts / (counts + penalty[passages]))
        places[slots] = passages
        ends[own_terms] += size
        n_tokens += int(counts.sum())
    if n_tokens != int(lengths.sum()) or not np.array_equal(ends, starts[1:]):
        raise AssertionError(f"{n_tokens:,} terms reached the index of {int(lengths.sum()):,} that were put in.")
    np.save(folder / PEAKS, np.maximum.reduceat(scores, starts[:-1]) if n_postings else np.zeros(0))
    scores.flush()
    places.flush()
    return {"n_terms": n_tokens, "n_postings": n_postings}
