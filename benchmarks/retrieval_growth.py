"""How retrieval grows with the corpus, up to the 21,015,324 passages of DPR's Wikipedia.

    python benchmarks/retrieval_growth.py [--sizes N ...] [--results FILE] [--folder FOLDER] [--milvus ADDRESS]

Rows in the layout of psgs_w100.tsv are made up (`made_passages.py`); then the corpus is read, `bm25` built, opened and
asked, each in a process of its own. With --milvus the first size goes to that server too, by the same code path. Rows
of results are added to a file, and the table shows all of it: each number grows as a power of the number of passages,
fitted over the sizes from 100,000 on, and is carried on from the largest. Seconds are those of the processor, as a busy
machine has no other; by the clock they stand in the file.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from child_process import is_child, run_child, size
from machine import describe
from made_passages import write_table

from shaketable.retrievers.bm25 import Bm25
from shaketable.retrievers.corpus.corpora import DPR_ROWS
from shaketable.retrievers.milvus import Milvus
from shaketable.types import Query, Question

N_QUESTIONS = 1000
K = 10
SECONDS = 60.0
FITTED_FROM = 100_000
COLUMNS = {
    "corpus_mb": "TSV, MB",
    "passages_mb": "passages, MB",
    "index_mb": "index, MB",
    "read_processor": "read, s",
    "build_processor": "build, s",
    "read_peak": "reading, peak MB",
    "build_peak": "building, peak MB",
    "open_processor": "open, s",
    "search_own": "searching, MB beside mapped files",
    "search_peak": "searching, peak MB",
    "ms_a_query": "ms of processor a query",
    "distinct_terms": "distinct terms",
    "postings": "postings",
}


def part(folder: Path) -> Bm25:
    os.environ["SHAKETABLE_HOME"] = str(folder / "home")
    return Bm25(corpus=str(folder / "psgs_w100.tsv"))


def read(folder: Path) -> dict[str, Any]:
    return {"n": len(part(folder)._passages), "mb": size(folder / "home")}


def build(folder: Path) -> dict[str, Any]:
    passages = part(folder)
    before = size(folder / "home")
    _ = passages._index
    (manifest,) = (folder / "home").rglob("bm25-*/manifest.json")
    holds = json.loads(manifest.read_text("utf-8"))["holds"]
    return {
        "mb": size(folder / "home") - before,
        "distinct_terms": holds["n_distinct_terms_of_texts"],
        "postings": holds["n_postings_of_texts"] + holds["n_postings_of_titles"],
    }


def reopen(folder: Path) -> dict[str, Any]:
    _ = part(folder)._index
    return {}


def search(folder: Path) -> dict[str, Any]:
    bm25 = part(folder)
    queries = queries_of(folder)
    bm25.search(queries[:50], K)
    started, used, n = time.perf_counter(), time.process_time(), 0
    while n < len(queries) and time.perf_counter() - started < SECONDS:
        n += len(bm25.search(queries[n : n + 50], K))
    return {
        "ms_a_query": 1000 * (time.process_time() - used) / n,
        "queries_a_second": n / (time.perf_counter() - started),
    }


def queries_of(folder: Path) -> list[Query]:
    texts = json.loads((folder / "questions.json").read_text("utf-8"))
    return [Query(text=text, question=Question(id="", text=text, answers=())) for text in texts]


def fill_milvus(folder: Path) -> dict[str, Any]:
    """Filling and asking a server. It and this process share the machine, so these are seconds of the clock."""
    part(folder)
    uri = (folder / "milvus").read_text("utf-8")
    milvus = Milvus(corpus=str(folder / "psgs_w100.tsv"), uri=uri, timeout_seconds=600)
    started = time.perf_counter()
    client = milvus._filled
    filled = time.perf_counter() - started
    queries = queries_of(folder)[:50]
    started = time.perf_counter()
    milvus.search(queries, K)
    asked = time.perf_counter() - started
    client.drop_collection(milvus._collection)
    return {"fill": filled, "ms_a_query": 1000 * asked / len(queries)}


TASKS = {"read": read, "build": build, "open": reopen, "search": search, "milvus": fill_milvus}


def measure(n: int, folder: Path, milvus: str | None) -> dict[str, Any]:
    """One row of the table."""
    table = folder / "psgs_w100.tsv"
    (folder / "questions.json").write_text(json.dumps(write_table(table, n, N_QUESTIONS)), "utf-8")
    row: dict[str, Any] = {"n": n, "corpus_mb": table.stat().st_size / 1e6}
    for task in ("read", "build", "open", "search"):
        told = run_child(__file__, task, folder)
        row |= {f"{task}_{key}": value for key, value in told.items() if key in ("seconds", "processor", "peak", "own")}
        row |= {key: value for key, value in told.items() if key not in ("seconds", "processor", "peak", "own", "n")}
        row[{"read": "passages_mb", "build": "index_mb"}.get(task, "mb")] = told.get("mb")
    row.pop("mb")
    if milvus is not None:
        (folder / "milvus").write_text(milvus, "utf-8")
        told = run_child(__file__, "milvus", folder)
        row["milvus"] = told
        print(
            f"milvus, {n:,} passages: filled in {told['fill']:.0f} s, {told['ms_a_query']:.0f} ms a query, both by the "
            f"clock; peak memory of the process that fills {told['peak']:.0f} MB"
        )
    return row


def show(rows: list[dict[str, Any]]) -> None:
    """Measured rows, the exponent of growth, and what follows for all of DPR's passages."""
    rows = sorted(rows, key=lambda row: row["n"])
    fitted = [row for row in rows if row["n"] >= FITTED_FROM] or rows
    largest = rows[-1]
    print("| | " + " | ".join(f"{row['n']:,}" for row in rows) + f" | grows as n^ | {DPR_ROWS:,} |")
    print("|---" * (len(rows) + 3) + "|")
    for column, label in COLUMNS.items():
        cells = [f"{row[column]:,.4g}" if row[column] < 1000 else f"{row[column]:,.0f}" for row in rows]
        exponent = float("nan")
        if len(fitted) > 1:
            logs = [np.log([row[key] for row in fitted]) for key in ("n", column)]
            exponent = float(np.polyfit(*logs, 1)[0])
        expected = largest[column] * (DPR_ROWS / largest["n"]) ** exponent
        print(f"| {label} | " + " | ".join(cells) + f" | {exponent:.2f} | {expected:,.4g} |")


def main() -> None:
    reader = argparse.ArgumentParser()
    reader.add_argument("--sizes", type=int, nargs="*", default=[10_000, 30_000, 100_000])
    reader.add_argument("--results", type=Path, help="rows of results, kept and added to")
    reader.add_argument("--folder", help="where passages and indexes lie meanwhile")
    reader.add_argument("--milvus", help="the address of a server, which the first size is sent to")
    given = reader.parse_args()
    print(describe())
    kept = given.results.read_text("utf-8").splitlines() if given.results and given.results.exists() else []
    rows = [json.loads(line) for line in kept]
    for number, n in enumerate(given.sizes):
        folder = Path(tempfile.mkdtemp(dir=given.folder))
        try:
            rows.append(measure(n, folder, given.milvus if number == 0 else None))
        finally:
            shutil.rmtree(folder)
        if given.results:
            given.results.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    show(rows)


if __name__ == "__main__":
    logging.getLogger("shaketable").setLevel(logging.ERROR)  # A part of DPR's rows is meant here.
    if not is_child(TASKS):
        main()
