"""BM25 over a corpus, with the English analysis and the two fields of the published studies."""

from __future__ import annotations

import bisect
import functools
import logging
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from shaketable.errors import need_packages
from shaketable.retrievers.corpus.corpora import BUILTIN, Corpus
from shaketable.retrievers.corpus.indexes import open_index, with_news
from shaketable.retrievers.corpus.passages import Passages, passages_of
from shaketable.retrievers.postings.blocks import BlockWriter, code_type
from shaketable.retrievers.postings.index import DEPTHS, LAYOUT, Field, write_index
from shaketable.text.search_terms import ANALYSIS, terms
from shaketable.types import Hit, Json, Query

FIELDS = ("title", "text")
WINDOW = 16_384
"""Passages whose sums are kept at once: 256 kB, which the caches of a processor hold."""
DIGITS = 10
"""Of a score. Sums that differ in their last bit are equal."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Bm25:
    """Lucene's BM25. A passage scores its better field plus `tie_breaker` times the other, as Elasticsearch's
    `best_fields` does; statistics are those of the whole corpus.

    Passages that share no term with the query are no hits, so a query of stop words finds nothing. Of equal passages
    the earlier in the corpus is better. The index is built on first use, once for each content of a corpus, and
    mapped into memory. Unlike in Lucene, Porter's stemmer is the published one.
    """

    version: ClassVar[int] = 1
    packages: ClassVar[tuple[str, ...]] = ("numba",)

    corpus: str = BUILTIN
    """`builtin`, or the path of JSON lines, a BEIR folder or DPR's TSV. Keys see its content, not its path."""
    k1: float = 1.2
    b: float = 0.75
    title_weight: float = 1.0
    """What the title's score is multiplied by; 0: titles are not searched."""
    tie_breaker: float = 0.5
    lengths: Literal["exact", "byte"] = field(default="exact", metadata={"in_key_when_given": True})
    """`byte`: of 40 words or more, a passage's length is rounded down to four bits, as Lucene and Elasticsearch do."""

    def __post_init__(self) -> None:
        if self.k1 < 0 or not 0 <= self.b <= 1 or self.title_weight < 0 or not 0 <= self.tie_breaker <= 1:
            raise ValueError("k1 and title_weight are at least 0; b and tie_breaker lie between 0 and 1.")

    def contents(self) -> dict[str, str]:
        return {"corpus": Corpus(name=self.corpus).digest}

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        # Terms are found here, in one thread: Python's own work gains nothing from several.
        asked = [Counter(terms(query.text)) for query in queries]
        index = self._index  # opened before threads ask for it
        best = self._threads.map(lambda query: index.top(query, k), asked)
        return [
            [
                Hit(passage=self._passages.passage(row), rank=rank, score=score, source="bm25")
                for rank, (row, score) in enumerate(rows, 1)
            ]
            for rows in best
        ]

    @functools.cached_property
    def _passages(self) -> Passages:
        return passages_of(self.corpus)

    @functools.cached_property
    def _index(self) -> _Index:
        need_packages("Retriever 'bm25'", *self.packages)
        folder, _ = open_index(
            "bm25",
            self._passages.digest,
            {"analysis": ANALYSIS, "layout": LAYOUT, "k1": self.k1, "b": self.b, "lengths": self.lengths},
            self._build,
        )
        log.info("bm25, %s: %s passages, checked", self.corpus, f"{len(self._passages):,}")
        return _Index(folder, len(self._passages), self.title_weight, self.tie_breaker)

    @functools.cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(os.cpu_count() or 1)

    def _build(self, folder: Path) -> dict[str, Json]:
        title, text = writers = [BlockWriter(folder / name) for name in FIELDS]
        for entry in with_news(self._passages, f"Indexing {self.corpus}"):
            title.add(terms(entry.title))
            text.add(terms(entry.whole))
        for writer in writers:
            writer.write_block()
            if self.lengths == "byte":
                writer.round_lengths()
        code = code_type(max(len(writer.kinds) for writer in writers))  # one type, which search is compiled for
        holds: dict[str, Json] = {"n_passages": len(self._passages)}
        for name, writer in zip(FIELDS, writers, strict=True):
            assert writer.n_passages == len(self._passages)
            counts = write_index(writer, code, k1=self.k1, b=self.b)
            holds |= {f"{counted}_of_{name}s": n for counted, n in counts.items()}
        return holds


class _Index:
    """Both fields of a corpus, and the best rows of a query."""

    def __init__(self, folder: Path, n_passages: int, title_weight: float, tie_breaker: float) -> None:
        self.title, self.text = (Field(folder / name) for name in FIELDS)
        self.n_passages, self.title_weight, self.tie_breaker = n_passages, title_weight, tie_breaker

    def top(self, query: Mapping[str, int], k: int) -> list[tuple[int, float]]:
        """Row and score of the k best passages."""
        from shaketable.retrievers.postings.search import candidates

        k = min(k, self.n_passages)
        lists = self._lists(query, k)
        if k < 1 or not lists:
            return []
        begins, ends, fields, weights, peaks, floors = map(np.array, zip(*lists, strict=True))
        rows, values = candidates(
            (self.title.postings, self.text.postings),
            begins,
            ends,
            fields,
            weights,
            np.append(np.cumsum((peaks[:, None] * (fields[:, None] == [0, 1]))[::-1], axis=0)[::-1], [[0.0, 0.0]], 0),
            self.tie_breaker,
            floors.max(),
            k,
            self.n_passages,
            min(WINDOW, self.n_passages),
        )
        by_title, by_text = values.T
        scores = np.maximum(by_title, by_text) + self.tie_breaker * np.minimum(by_title, by_text)
        scores = scores.round(DIGITS)
        best = np.lexsort((rows, -scores))[:k]
        return list(zip(rows[best].tolist(), scores[best].tolist(), strict=True))

    def _lists(self, query: Mapping[str, int], k: int) -> list[tuple[int, int, int, float, float, float]]:
        """Begin, end, field, weight, peak and k-th best (or 0) of each list of postings: first those that add much and
        are soon read."""
        lists, depth = [], bisect.bisect_left(DEPTHS, k)
        for number, (searched, weight) in enumerate(((self.title, self.title_weight), (self.text, 1.0))):
            for term, count in query.items() if weight else ():
                if (row := searched.vocabulary.get(term)) is not None:
                    begin, end, times = int(searched.starts[row]), int(searched.starts[row + 1]), count * weight
                    floor = float(searched.floors[row, depth]) if depth < len(DEPTHS) else 0.0
                    own, peak = float(searched.idf[row]), float(searched.peaks[row])
                    lists.append((begin, end, number, times * own, times * peak, times * floor))
        return sorted(lists, key=lambda own: (own[1] - own[0]) / own[4])
