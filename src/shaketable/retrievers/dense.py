"""Search by meaning: the passages whose vectors are nearest to the query's."""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from shaketable import weights
from shaketable.errors import PackageError, lacks_packages
from shaketable.retrievers.corpus.corpora import BUILTIN
from shaketable.retrievers.corpus.indexes import open_index
from shaketable.retrievers.vectors import EmbeddedCorpus, Similarity, Vectors
from shaketable.text.encoder import PACKAGES, Pooling
from shaketable.types import Hit, Json, Query

if TYPE_CHECKING:
    from torch import Tensor

LARGE = 2_000_000
"""Passages from which on `auto` searches approximately: exact search of one query then reads 3 GB."""
ROWS_AT_ONCE = 65_536
SPARE = 16
"""More rows than wanted, so that those that single precision cannot tell apart are put in order exactly."""
N_COARSE = 200
"""Rows of the approximate index for each query at least, before exact scores put them in order."""
SHARE_PROBED = 1 / 32
DIGITS = 6

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Dense(EmbeddedCorpus):
    """A sentence encoder and the inner product of its vectors, which are computed once for each content of a corpus.

    Search is exact, or by a FAISS index of coarse cells and 8-bit vectors whose best rows get exact scores. An empty
    query finds nothing. Contriever is `dense(encoder='facebook/contriever', similarity='dot')`.
    """

    version: ClassVar[int] = 1

    corpus: str = BUILTIN
    """`builtin`, or the path of JSON lines, a BEIR folder or DPR's TSV. Keys see its content, not its path."""
    encoder: str = "all-MiniLM-L6-v2"
    """Embedded weights, the path of a folder, or a name of the model hub."""
    pooling: Pooling = "mean"
    similarity: Similarity = "cosine"
    """`dot` leaves vectors their lengths."""
    approximate: Literal["auto", "never", "always"] = "auto"
    """`auto`: for corpora of two million passages or more."""
    device: str = field(default="cpu", compare=False)

    @property
    def packages(self) -> tuple[str, ...]:
        return (*PACKAGES, "faiss") if self.approximate == "always" else PACKAGES

    def lacks(self) -> str | None:
        return weights.lacks(self.encoder)

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        hits: list[list[Hit]] = [[] for _ in queries]
        asked = [(i, text) for i, query in enumerate(queries) if (text := query.text.strip())]
        k = min(k, len(self._passages))
        if not asked or k < 1:
            return hits
        vectors = self._embedding.queries([text for _, text in asked])
        near = self._nearest(vectors, min(k + SPARE, len(self._passages)))
        for (i, _), vector, rows in zip(asked, vectors, near, strict=True):
            hits[i] = self._hits(vector, rows, k)
        return hits

    def _hits(self, vector: Vectors, rows: NDArray[np.int64], k: int) -> list[Hit]:
        rows = np.sort(rows[rows >= 0])
        # One row at a time in double precision: the same numbers whoever else was asked.
        scores = (self._vectors[rows].astype(np.float64) * vector).sum(axis=1).round(DIGITS)
        best = np.lexsort((rows, -scores))[:k]
        return [
            Hit(passage=self._passages.passage(row), rank=rank, score=score, source="dense")
            for rank, (row, score) in enumerate(zip(rows[best].tolist(), scores[best].tolist(), strict=True), 1)
        ]

    def _nearest(self, queries: Vectors, n: int) -> NDArray[np.int64]:
        if self.approximate == "always" or (self.approximate == "auto" and len(self._passages) >= LARGE):
            rows: NDArray[np.int64] = self._cells.search(queries, max(n, N_COARSE))[1]
            return rows
        return _exact(self._blocks or _blocks(self._vectors, "cpu"), queries, n)

    @functools.cached_property
    def _vectors(self) -> Vectors:
        vectors = self._embedding.passages(self._passages)
        log.info("dense, %s: %s passages, checked", self.corpus, f"{len(vectors):,}")
        return vectors

    @functools.cached_property
    def _blocks(self) -> list[Tensor]:
        """The vectors on an accelerator, where they stay; none on a processor, which maps the file."""
        return [] if self.device == "cpu" else list(_blocks(self._vectors, self.device))

    @functools.cached_property
    def _cells(self) -> Any:
        faiss = _faiss()
        n, width = self._vectors.shape
        n_cells = max(1, min(int(4 * n**0.5), n // 39))  # FAISS wants 39 vectors for each cell when it learns them

        def build(folder: Path) -> dict[str, Json]:
            index = faiss.index_factory(width, f"IVF{n_cells},SQ8", faiss.METRIC_INNER_PRODUCT)
            sample = np.sort(np.random.default_rng(0).choice(n, min(n, 256 * n_cells), replace=False))
            index.train(np.ascontiguousarray(self._vectors[sample]))
            for start in range(0, n, ROWS_AT_ONCE):
                index.add(np.ascontiguousarray(self._vectors[start : start + ROWS_AT_ONCE]))
            if index.ntotal != n:
                raise AssertionError(f"{index.ntotal:,} of {n:,} vectors are in the index.")
            faiss.write_index(index, str(folder / "cells.faiss"))
            return {"n_passages": n, "n_cells": n_cells}

        settings = {**self._embedding.settings, "n_cells": n_cells}
        folder, _ = open_index("cells", self._passages.digest, settings, build)
        index = faiss.read_index(str(folder / "cells.faiss"), faiss.IO_FLAG_MMAP)
        index.nprobe = max(8, round(n_cells * SHARE_PROBED))
        return index


def _blocks(vectors: Vectors, device: str) -> Iterator[Tensor]:
    import torch

    for start in range(0, len(vectors), ROWS_AT_ONCE):
        yield torch.from_numpy(np.array(vectors[start : start + ROWS_AT_ONCE])).to(device)


def _exact(blocks: Iterable[Tensor], queries: Vectors, n: int) -> NDArray[np.int64]:
    """The n rows with the largest inner products for each query, in blocks that fit into memory."""
    import torch

    scores, rows, start = torch.zeros(len(queries), 0), torch.zeros(len(queries), 0, dtype=torch.long), 0
    for block in blocks:
        asked = torch.from_numpy(queries).to(block.device)
        block_rows = torch.arange(start, start + len(block), device=block.device).expand(len(queries), -1)
        scores = torch.cat([scores.to(block.device), asked @ block.T], 1)
        scores, kept = scores.topk(min(n, scores.shape[1]), dim=1)
        rows = torch.cat([rows.to(block.device), block_rows], 1).gather(1, kept)
        start += len(block)
    nearest: NDArray[np.int64] = rows.cpu().numpy()
    return nearest


def _faiss() -> Any:
    if problem := lacks_packages("Approximate dense search", ("faiss",)):
        raise PackageError(f"{problem} Or write dense(approximate='never').")
    import faiss

    return faiss
