"""BM25 of Shaketable against that of tantivy: the same terms of the same passages, ranking, speed, memory, size.

    python benchmarks/bm25_against_tantivy.py [--real DATASET CORPUS QUESTIONS]... [--sizes N ...] [--folder FOLDER]

Real corpora are files as docs/data.md has them, with the questions of a dataset and its supporting documents; sizes are
those of made-up ones (`made_passages.py`). Both engines get the terms of Shaketable's English analysis, in two fields
without positions, and score a passage by its better field plus half of the other; "text" is one field alone, where
tantivy need not score every passage. Seconds are those of the processor, as a busy machine has no other; in brackets by
the clock. Tantivy keeps lengths in a byte: `rounded` is `bm25(lengths='byte')`.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import numpy as np
from child_process import is_child, memory, run_child, size
from machine import describe
from made_passages import write_table
from scipy.stats import kendalltau

from shaketable import catalog
from shaketable.retrievers.bm25 import Bm25, _Index
from shaketable.retrievers.corpus.passages import Passages, passages_of
from shaketable.text.search_terms import terms

N_QUESTIONS = 2000
K, DEEP = 10, 100
SECONDS = 8.0
"""Of the clock, for each speed at most."""
MOST_ROUNDED = 200_000
"""Passages up to which the index with rounded lengths is built too."""
NEAR = 2e-5
"""What scores in single precision may differ by, as a share."""
Ranking = list[tuple[int, float]]
Told = dict[str, Any]
Search = Callable[[Counter[str], int], Ranking]


# --- the two engines ------------------------------------------------------------------------------


def analyzed(folder: Path) -> Iterator[tuple[list[str], list[str]]]:
    for entry in opened(folder):
        yield terms(entry.title), terms(entry.whole)


def opened(folder: Path) -> Passages:
    os.environ["SHAKETABLE_HOME"] = str(folder / "home")
    return passages_of((folder / "corpus").read_text("utf-8"))


def build_shaketable(folder: Path, name: str = "shaketable", lengths: Literal["exact", "byte"] = "exact") -> Told:
    opened(folder)
    (folder / name).mkdir()
    Bm25(corpus=(folder / "corpus").read_text("utf-8"), lengths=lengths)._build(folder / name)
    return {"mb": size(folder / name)}


def build_rounded(folder: Path) -> Told:
    return build_shaketable(folder, "rounded", "byte") if len(opened(folder)) <= MOST_ROUNDED else {}


def build_tantivy(folder: Path) -> Told:
    import tantivy

    schema = tantivy_schema()
    (folder / "tantivy").mkdir()
    writer = tantivy_index(folder, schema).writer(128_000_000, 1)
    for row, (title, text) in enumerate(analyzed(folder)):
        document = tantivy.Document()
        document.add_unsigned("row", row)
        document.add_text("title", " ".join(title))
        document.add_text("text", " ".join(text))
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    return {"mb": size(folder / "tantivy")}


def analyze_alone(folder: Path) -> Told:
    return {"terms": sum(len(title) + len(text) for title, text in analyzed(folder))}


def tantivy_schema() -> Any:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("row", fast=True)
    for field in ("title", "text"):
        builder.add_text_field(field, tokenizer_name="terms", index_option="freq")
    return builder.build()


def tantivy_index(folder: Path, schema: Any) -> Any:
    import tantivy

    index = tantivy.Index(schema, str(folder / "tantivy"))
    index.register_tokenizer("terms", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
    return index


def open_tantivy(folder: Path, *, both: bool) -> Search:
    from tantivy import Occur, Query

    schema = tantivy_schema()
    searcher = tantivy_index(folder, schema).searcher()

    def field_query(field: str, asked: Counter[str]) -> Any:
        words = [(Query.term_query(schema, field, term, "freq"), count) for term, count in asked.items()]
        return Query.boolean_query(
            [(Occur.Should, Query.boost_query(word, count) if count > 1 else word) for word, count in words]
        )

    def search(asked: Counter[str], k: int) -> Ranking:
        if not asked:
            return []
        query = field_query("text", asked)
        if both:
            query = Query.disjunction_max_query([field_query("title", asked), query], 0.5)
        hits = searcher.search(query, k, count=False).hits
        rows = searcher.fast_field_values("row", [address for _, address in hits])
        return [(row, score) for row, (score, _) in zip(rows, hits, strict=True)]

    return search


def open_shaketable(folder: Path, *, both: bool, name: str = "shaketable") -> Search:
    return _Index(folder / name, len(opened(folder)), 1.0 if both else 0.0, 0.5).top


# --- searching, in a process for each engine ------------------------------------------------------


def search_with(folder: Path, name: str, reopen: Callable[..., Search]) -> Told:
    """Time to open, queries a second with one thread and with two, and the rankings, which go to a file."""
    asked = [Counter(terms(question)) for question in json.loads((folder / "questions.json").read_text("utf-8"))]
    started, used = time.perf_counter(), time.process_time()
    both = reopen(folder, both=True)
    told: Told = {"open": (time.process_time() - used, time.perf_counter() - started)}
    for fields, search in (("both", both), ("text", reopen(folder, both=False))):
        search(asked[0], K)  # compiles, where nothing is kept
        for k in (K, DEEP):
            told[f"{fields} {k}"] = speed(search, asked, k, 1)
        told[f"{fields} {K}, two threads"] = speed(search, asked, K, 2)
        rankings = [search(query, DEEP) for query in asked[:N_QUESTIONS]]
        (folder / f"{name}-{fields}.json").write_text(json.dumps(rankings), "utf-8")
        told |= memory()
    return told


def speed(search: Search, asked: list[Counter[str]], k: int, n_threads: int) -> tuple[float, float]:
    """Queries per second of the processor, and per second."""
    started, used, n = time.perf_counter(), time.process_time(), 0
    with ThreadPoolExecutor(n_threads) as threads:
        while n < len(asked) and time.perf_counter() - started < SECONDS:
            some = asked[n : n + 50]
            n += len(list(threads.map(lambda query: search(query, k), some)))
    return n / (time.process_time() - used), n / (time.perf_counter() - started)


TASKS: dict[str, Callable[[Path], Told]] = {
    "read": lambda folder: {"passages": len(opened(folder))},
    "analyze": analyze_alone,
    "build shaketable": build_shaketable,
    "build rounded": build_rounded,
    "build tantivy": build_tantivy,
    "search shaketable": lambda folder: search_with(folder, "shaketable", open_shaketable),
    "search tantivy": lambda folder: search_with(folder, "tantivy", open_tantivy),
}


# --- how rankings differ --------------------------------------------------------------------------


def compare(one: list[Ranking], other: list[Ranking], k: int) -> dict[str, float]:
    """Shares of the questions with the same passages in the same order, with the same scores at every rank (equal
    passages may change places), of the passages that both have, and Kendall's tau over these."""
    same, level, overlap, taus = [], [], [], []
    for ours, theirs in zip(one, other, strict=True):
        own, their = [row for row, _ in ours[:k]], [row for row, _ in theirs[:k]]
        if not own:
            continue
        same.append(own == their)
        pairs = list(zip(ours[:k], theirs[:k], strict=False))
        level.append(len(own) == len(their) and all(abs(2.2 * a / b - 1) < NEAR for (_, a), (_, b) in pairs))
        shared = [row for row in own if row in set(their)]
        overlap.append(len(shared) / max(len(own), len(their)))
        if len(shared) > 1:
            taus.append(kendalltau(range(len(shared)), [their.index(row) for row in shared]).statistic)
    means = {"same order": same, "same scores": level, "overlap": overlap, "tau": taus}
    return {name: float(np.mean(values)) for name, values in means.items()}


def gold_quality(rankings: list[Ranking], titles: list[str], golds: list[list[str]]) -> dict[str, float]:
    """Recall and nDCG of the supporting documents, by title; a document counts once."""
    recalls: dict[int, list[float]] = {K: [], DEEP: []}
    gains = []
    for ranking, gold in zip(rankings, golds, strict=True):
        ordered = list(dict.fromkeys(titles[row] for row, _ in ranking))
        for k, values in recalls.items():
            values.append(len(set(ordered[:k]) & set(gold)) / len(gold))
        gain = sum(1 / math.log2(rank + 1) for rank, title in enumerate(ordered[:K], 1) if title in gold)
        gains.append(gain / sum(1 / math.log2(rank + 1) for rank in range(1, min(K, len(gold)) + 1)))
    means = {f"recall at {k}": float(np.mean(values)) for k, values in recalls.items()}
    return {**means, f"nDCG at {K}": float(np.mean(gains))}


# --- one corpus after another ---------------------------------------------------------------------


def measure(label: str, folder: Path, golds: list[list[str]] | None) -> Told:
    told = {task: run_child(__file__, task, folder) for task in TASKS}
    print(f"\n{label}: {told['read']['passages']:,} passages, {told['analyze']['terms']:,} terms")
    alone = told["analyze"]
    print(f"  analysis alone {alone['processor']:.1f} s ({alone['seconds']:.1f})")
    for name in ("shaketable", "tantivy"):
        built, asked = told[f"build {name}"], told[f"search {name}"]
        print(
            f"  {name}: built in {built['processor']:.1f} s ({built['seconds']:.1f}), peak {built['peak']:,.0f} MB, "
            f"{built['mb']:,.1f} MB on disk; opened in {1000 * asked['open'][0]:,.0f} ms; "
            f"searching, peak {asked['peak']:,.0f} MB, {asked['own']:,.0f} MB without mapped files"
        )
        speeds = {key: value for key, value in asked.items() if key.startswith(("both", "text"))}
        print("    queries/s: " + "; ".join(f"{key} {cpu:,.0f} ({clock:,.0f})" for key, (cpu, clock) in speeds.items()))
    os.environ["SHAKETABLE_HOME"] = str(folder / "home")
    tell_rankings(folder, golds)
    return told


def tell_rankings(folder: Path, golds: list[list[str]] | None) -> None:
    questions = json.loads((folder / "questions.json").read_text("utf-8"))[:N_QUESTIONS]
    asked = [Counter(terms(question)) for question in questions]
    for fields in ("both", "text"):
        ours, theirs = (
            json.loads((folder / f"{name}-{fields}.json").read_text("utf-8")) for name in ("shaketable", "tantivy")
        )
        rankings = {"exact": ours}
        if (folder / "rounded").exists():
            search = open_shaketable(folder, both=fields == "both", name="rounded")
            rankings["rounded"] = [search(query, DEEP) for query in asked]
        for k in (K, DEEP):
            for name, own in rankings.items():
                values = ", ".join(f"{key} {value:.4f}" for key, value in compare(own, theirs, k).items())
                print(f"  {fields} {k}, {name} against tantivy: {values}")
        if golds is not None:
            titles = [entry.title for entry in opened(folder)]
            for name, found in (("shaketable", ours), ("tantivy", theirs)):
                values = gold_quality(found, titles, golds[:N_QUESTIONS])
                print(f"  {fields}, {name}: " + ", ".join(f"{key} {value:.4f}" for key, value in values.items()))


def main() -> None:
    reader = argparse.ArgumentParser()
    reader.add_argument("--real", nargs=3, action="append", default=[], metavar=("DATASET", "CORPUS", "QUESTIONS"))
    reader.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000])
    reader.add_argument("--folder", help="where passages and indexes lie meanwhile")
    given = reader.parse_args()
    print(describe())
    jobs = [(name, corpus, questions, 0) for name, corpus, questions in given.real]
    for label, corpus, questions, n in [*jobs, *((f"made, {n:,}", "", "", n) for n in given.sizes)]:
        folder = Path(tempfile.mkdtemp(dir=given.folder))
        try:
            golds = None
            if n:
                asked = write_table(folder / "passages.tsv", n, N_QUESTIONS)
                corpus = str(folder / "passages.tsv")
            else:
                loaded = [one for one in catalog.find("dataset", label)(path=questions).questions if one.gold_titles]
                asked, golds = [one.text for one in loaded], [list(one.gold_titles) for one in loaded]
            (folder / "corpus").write_text(str(Path(corpus).absolute()), "utf-8")
            (folder / "questions.json").write_text(json.dumps(asked[:N_QUESTIONS]), "utf-8")
            measure(label, folder, golds)
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    logging.getLogger("shaketable").setLevel(logging.ERROR)  # A part of DPR's rows is meant here.
    if not is_child(TASKS):
        main()
