"""Studies of wording in which it does not matter how a question is asked: all wordings are drawn alike."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl

from known_truth.draws import Rng, chances
from shaketable.analyses.tables import Tables
from shaketable.store.tables import SEARCH_SCHEMA
from shaketable.types import Study

VOCABULARY = tuple(f"word{i}" for i in range(12))
N_TEXTS = 8
"""Different answers and queries of a question."""
N_PASSAGES = 5
TEMPERATURE = 0.7
SCORED = ("query_loss", "query_tokens")


def wording_tables(rng: Rng, n: int, word: str, study: Study) -> Tables:
    """Methods that search decide so by chance, question by question; closed-book answers are worse."""
    records = _records(rng, n, word, study)
    searches = _searches(rng, records)
    plain = records.drop("correct", "token_f1", *SCORED)
    return Tables(
        scores=_scores(records),
        read_records=lambda: plain,
        read_searches=lambda: searches,
        chosen_metric=study.main_metric,
        repeats=study.repeats,
    )


def _records(rng: Rng, n: int, word: str, study: Study) -> pl.DataFrame:
    known, acting = chances(rng, (n,), 0.6, 0.5), chances(rng, (n,), 0.6, 0.5)
    wordings = _wordings(rng, n, word, study)
    parts = []
    for method in study.methods:
        searches, always = not method.startswith("closed_book"), method.startswith("single_retrieval")
        asked = wordings.with_columns(
            method=pl.lit(method), retriever=pl.lit("bm25" if searches else None, dtype=pl.String)
        )
        size, of = len(asked), asked["question"].to_numpy()
        right = rng.random(size) < known[of] * (1.0 if searches else 0.5)
        acts = np.ones(size, dtype=bool) if always else rng.random(size) < acting[of]
        n_searches = (acts * (1 if always else rng.integers(1, 4, size)) if searches else np.zeros(size)).astype(int)
        usual = rng.random(size) < 0.6
        parts.append(
            asked.with_columns(
                correct=pl.Series(right.astype(float)),
                token_f1=pl.Series(np.clip(0.7 * right + 0.3 * rng.random(size), 0, 1)),
                n_searches=pl.Series(n_searches.astype(np.int64)),
                n_generations=pl.Series((n_searches + 1).astype(np.int64)),
                n_tokens=pl.Series(rng.poisson(30, size).astype(np.int64)),
                answer=_texts(of, np.where(usual, 0, rng.integers(0, N_TEXTS, size)), "answer"),
            )
        )
    return pl.concat(parts).with_columns(
        key=pl.format("{}/{}/{}/{}", "method", "question", "variation", "repeat"),
        dataset=pl.lit("builtin"),
        model=pl.lit("model"),
        perturbation=pl.when(pl.col("retriever").is_not_null()).then(pl.lit("unchanged")),
        temperature=pl.lit(TEMPERATURE),
        type=pl.lit(None, dtype=pl.String),
        n_facts=pl.lit(2, dtype=pl.Int64),
        failure=pl.lit(None, dtype=pl.String),
    )


def _wordings(rng: Rng, n: int, word: str, study: Study) -> pl.DataFrame:
    """Every question in every wording and run; length and loss of a wording are drawn once."""
    rows = []
    for question, variation in itertools.product(range(n), study.variations):
        text = " ".join(rng.choice(VOCABULARY, rng.integers(8, 15)))
        rows.append((question, f"{word}{question:04}", variation, text, rng.normal(3, 0.5), rng.normal(14, 3)))
    columns = ["question", "question_id", "variation", "wording", *SCORED]
    runs = pl.DataFrame({"repeat": np.arange(study.repeats, dtype=np.int64)})
    return pl.DataFrame(rows, schema=columns, orient="row").join(runs, how="cross")


def _texts(question: np.ndarray, which: np.ndarray, kind: str) -> pl.Series:
    return pl.Series([f"{kind} {q % N_TEXTS} {i}" for q, i in zip(question.tolist(), which.tolist(), strict=True)])


def _searches(rng: Rng, records: pl.DataFrame) -> pl.DataFrame:
    rows = []
    for key, question, n_searches in records.select("key", "question", "n_searches").iter_rows():
        for hop in range(n_searches):
            passages = [f"{question}:{i}" for i in rng.permutation(2 * N_PASSAGES)[:N_PASSAGES]]
            query = f"query {question % N_TEXTS} {rng.integers(N_TEXTS)}"
            rows.append((key, hop + 1, query, passages, passages, bool(rng.random() < 0.5), None))
    return pl.DataFrame(rows, schema=SEARCH_SCHEMA, orient="row")


def _scores(records: pl.DataFrame) -> pl.DataFrame:
    factors = ("key", "dataset", "question_id", "type", "n_facts", "model", "method", "retriever", "perturbation")
    return records.unpivot(
        ["correct", "token_f1", *SCORED],
        index=[*factors, "variation", "temperature", "repeat"],
        variable_name="metric",
    ).with_columns(reason=pl.lit(None, dtype=pl.String))
