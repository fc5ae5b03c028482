"""BM25 over synthetic passages: Shaketable against plain bm25s and rank-bm25.

    python benchmarks/bm25_speed.py [n_passages] [n_queries] [n_passages_of_peers]

Passages have a title of 1 to 4 and a text of 30 to 89 words, drawn by Zipf's law from 200,000 made-up words; a query is
8 words of one text. Shaketable reads them from a gzipped file, builds its index on disk (two fields, scores in double
precision) and answers with passages. The peers hold lists of the same terms in memory, search the text alone and answer
with numbers; as they take long, they are compared on fewer passages. On a busy machine processor time tells more.
"""

from __future__ import annotations

import gzip
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from machine import describe

from shaketable.retrievers.bm25 import Bm25
from shaketable.text.search_terms import terms
from shaketable.types import Query, Question

N_WORDS = 200_000
LETTERS = np.array(list("bdfgklmnprstvz"))
VOWELS = np.array(list("aeiou"))
K = 10
N_SLOW = 20
"""Queries that rank-bm25 is given."""


def write_corpus(file: Path, n_passages: int, n_queries: int) -> list[str]:
    """Passages to a file; queries back."""
    rng = np.random.default_rng(0)
    syllables = np.char.add(rng.choice(LETTERS, (N_WORDS, 4)), rng.choice(VOWELS, (N_WORDS, 4)))
    words = ["".join(row[: 2 + n % 3]) + "nt" for n, row in enumerate(syllables)]
    chances = 1 / np.arange(1, N_WORDS + 1)
    limits = np.cumsum(chances / chances.sum())
    asked = set(rng.choice(n_passages, min(n_queries, n_passages), replace=False).tolist())
    queries = []
    with gzip.open(file, "wt", compresslevel=1, encoding="utf-8") as sink:
        for row in range(n_passages):
            n_title, n_text = int(rng.integers(1, 5)), int(rng.integers(30, 90))
            drawn = [words[i] for i in np.searchsorted(limits, rng.random(n_title + n_text))]
            text = drawn[n_title:]
            sink.write(json.dumps({"title": " ".join(drawn[:n_title]), "text": " ".join(text)}) + "\n")
            if row in asked:
                queries.append(" ".join(rng.choice(text, 8, replace=False)))
    return queries


def shaketable_speed(folder: Path, n_passages: int, n_queries: int) -> float:
    file = folder / f"{n_passages}.jsonl.gz"
    queries = [
        Query(text=text, question=Question(id="", text=text, answers=()))
        for text in write_corpus(file, n_passages, n_queries)
    ]
    part = Bm25(corpus=str(file))
    start = time.perf_counter()
    part.search(queries[:1], K)
    built = time.perf_counter() - start
    part.search(queries[:50], K)
    start, used = time.perf_counter(), time.process_time()
    found = part.search(queries, K)
    seconds, used = time.perf_counter() - start, time.process_time() - used
    per_second = len(queries) / seconds
    on_disk = sum(one.stat().st_size for one in Path(os.environ["SHAKETABLE_HOME"]).rglob("*") if one.is_file())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"shaketable, {n_passages:,} passages: read and indexed in {built:.0f} s, {on_disk / 1e6:,.0f} MB on disk")
    print(f"  {len(queries):,} queries, top {K}: {seconds:.2f} s, {per_second:,.0f} queries/s")
    print(f"  {1000 * used / len(queries):.1f} ms of processor time a query; peak memory {peak:.2f} GiB")
    assert all(len(hits) == K for hits in found)
    return per_second


def peers(folder: Path, n_passages: int) -> dict[str, float]:
    """Queries per second of the others, over the texts of a file that was written before."""
    import bm25s
    from rank_bm25 import BM25Okapi

    with gzip.open(folder / f"{n_passages}.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [terms(json.loads(line)["text"]) for line in lines]
    rng = np.random.default_rng(1)
    queries = [
        [str(term) for term in rng.choice(texts[row], 8, replace=False)] for row in rng.integers(0, n_passages, 500)
    ]
    plain = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    start = time.perf_counter()
    plain.index(texts, show_progress=False)
    print(f"plain bm25s: indexed in {time.perf_counter() - start:.0f} s, tokenizing not counted")
    start = time.perf_counter()
    plain.retrieve(queries, k=K, show_progress=False, n_threads=os.cpu_count() or 1)
    speeds = {"plain bm25s": len(queries) / (time.perf_counter() - start)}
    slow = BM25Okapi(texts, k1=1.2, b=0.75)
    start = time.perf_counter()
    for query in queries[:N_SLOW]:
        slow.get_top_n(query, range(n_passages), K)
    return {**speeds, "rank-bm25": N_SLOW / (time.perf_counter() - start)}


def main(n_passages: int = 1_000_000, n_queries: int = 1000, n_passages_of_peers: int = 100_000) -> None:
    print(describe())
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["SHAKETABLE_HOME"] = str(Path(scratch, "home"))
        shaketable_speed(Path(scratch), n_passages, n_queries)
        own = shaketable_speed(Path(scratch), n_passages_of_peers, n_queries)
        for name, speed in peers(Path(scratch), n_passages_of_peers).items():
            print(f"{name}, {n_passages_of_peers:,} passages: {speed:,.1f} queries/s; shaketable {own / speed:,.1f} ×")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
