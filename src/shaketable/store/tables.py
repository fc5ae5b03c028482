"""The tables of a run as data frames: what analyses, exports and pages read."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from shaketable.store.record_reading import first_questions_where
from shaketable.store.records import RecordStore
from shaketable.text.gold import gold_among

FACTORS = (
    *("dataset", "question_id", "model", "method", "retriever", "perturbation", "variation", "temperature", "repeat"),
)
TEXTS = (
    *("key", "dataset", "question_id", "question", "gold", "type", "model", "method", "retriever", "perturbation"),
    *("variation", "wording", "answer", "failure"),
)
RECORD_COLUMNS = (
    *("key", "dataset", "question_id", "question", "gold", "type", "n_facts", "model", "method", "retriever"),
    *("perturbation", "variation", "wording", "temperature", "repeat", "seed", "answer", "failure"),
    *("n_searches", "n_generations", "n_prompt_tokens", "n_tokens", "seconds", "dollars", "reused"),
)
RECORD_SCHEMA = {
    name: pl.String if name in TEXTS else pl.Float64 if name in ("temperature", "seconds", "dollars") else pl.Int64
    for name in RECORD_COLUMNS
}
SEARCH_SCHEMA: dict[str, Any] = {
    "key": pl.String,
    "hop": pl.Int64,
    "query": pl.String,
    "passages": pl.List(pl.String),
    "titles": pl.List(pl.String),
    "gold_hit": pl.Boolean,
    "n_gold": pl.Int64,
}
OWN_SCHEMA = {
    "key": pl.String, "variant": pl.Int64, "condition": pl.Int64, "temperature": pl.Float64, "repeat": pl.Int64,
    "seed": pl.Int64, "answer": pl.String, "failure": pl.String,
    **{name: RECORD_SCHEMA[name] for name in RECORD_COLUMNS[-7:]},
}  # fmt: skip
"""What a record does not share with others, and by which number it names what it shares."""
ROWS_AT_ONCE = 50_000
"""Rows that are Python values at a time."""
KEYS = "r.key IN (SELECT value FROM json_each(?))"
"""Any number of keys as one value: SQLite takes a limited number of them."""
GOLD_HIT = "gold_hit"
"""The note of an imported search that says whether it brought a supporting document."""


def record_table(
    store: RecordStore,
    first_questions: int | None = None,
    columns: Sequence[str] = RECORD_COLUMNS,
    keys: Sequence[str] | None = None,
) -> pl.DataFrame:
    """One row per record: key, every factor, answer, failure, counts; of the first questions or of some keys alone, or
    of all."""
    return pl.concat((rows.select(columns) for rows in record_slices(store, first_questions, keys)), rechunk=True)


def record_slices(
    store: RecordStore, first_questions: int | None = None, keys: Sequence[str] | None = None
) -> Iterator[pl.DataFrame]:
    """The same, some rows after the other: texts that records share are there once for all rows."""
    variants, conditions = _variants(store), _conditions(store)
    sql = f"""SELECT r.key, r.variant, r.condition, r.temperature, r.repeat, r.seed, r.answer,
                  json_extract(r.failure, '$.kind'), r.n_searches, r.n_generations, r.n_prompt_tokens, r.n_tokens,
                  r.seconds, r.dollars, r.reused
              FROM records r JOIN variants v ON v.id = r.variant JOIN questions q ON q.id = v.question_id
              WHERE {first_questions_where(first_questions)} AND {"1" if keys is None else KEYS}
              ORDER BY q.place, r.condition, r.variant, r.temperature, r.repeat"""
    for rows in _frames(store.stream(sql, () if keys is None else (json.dumps(list(keys)),)), OWN_SCHEMA):
        yield _with_texts(rows, variants, conditions).select(RECORD_COLUMNS)


def factor_table(store: RecordStore) -> pl.DataFrame:
    """One row per record, in the order they were stored: its key, its factors, and the tags of its question."""
    variants, conditions = _variants(store).drop("question", "gold", "wording"), _conditions(store)
    sql = "SELECT key, variant, condition, temperature, repeat FROM records ORDER BY id"
    schema = {name: OWN_SCHEMA[name] for name in ("key", "variant", "condition", "temperature", "repeat")}
    rows = pl.concat(_frames(store.stream(sql), schema), rechunk=True)
    return _with_texts(rows, variants, conditions).select("key", *FACTORS, "type", "n_facts")


def _frames(rows: Iterator[tuple[Any, ...]], schema: dict[str, Any]) -> Iterator[pl.DataFrame]:
    """Some rows after the other; one frame at least."""
    yield pl.DataFrame(list(itertools.islice(rows, ROWS_AT_ONCE)), schema=schema, orient="row")
    while some := list(itertools.islice(rows, ROWS_AT_ONCE)):
        yield pl.DataFrame(some, schema=schema, orient="row")


def _with_texts(rows: pl.DataFrame, variants: pl.DataFrame, conditions: pl.DataFrame) -> pl.DataFrame:
    return rows.join(variants, on="variant", maintain_order="left").join(
        conditions, on="condition", maintain_order="left"
    )


def _variants(store: RecordStore) -> pl.DataFrame:
    """The wordings, with their questions."""
    rows = store.rows(
        """SELECT v.id, q.dataset, q.id, q.text, q.answers, json_extract(q.tags, '$.type'),
                  json_extract(q.tags, '$.n_facts'), v.variation, v.wording
           FROM variants v JOIN questions q ON q.id = v.question_id"""
    )
    names = ("dataset", "question_id", "question", "gold", "type", "n_facts", "variation", "wording")
    schema = {"variant": pl.Int64, **{name: RECORD_SCHEMA[name] for name in names}}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _conditions(store: RecordStore) -> pl.DataFrame:
    rows = store.rows("SELECT id, model, method, retriever, perturbation FROM conditions")
    names = ("model", "method", "retriever", "perturbation")
    return pl.DataFrame(rows, schema={"condition": pl.Int64, **dict.fromkeys(names, pl.String)}, orient="row")


def search_table(store: RecordStore) -> pl.DataFrame:
    """One row per executed search: key, hop from 1, query, ids and titles of the passages it brought, whether a
    supporting document is among them (None: the question names none), and how many."""
    return pl.concat(_frames(_searches(store), SEARCH_SCHEMA), rechunk=True)


def _searches(store: RecordStore) -> Iterator[tuple[Any, ...]]:
    questions = {question.id: question for question in store.questions()}
    brought: dict[str, tuple[list[str], list[str]]] = {}  # many trials share what one search brought
    for key, question_id, trace in store.stream(
        """SELECT r.key, v.question_id, r.trace FROM records r JOIN variants v ON v.id = r.variant
           WHERE r.n_searches > 0 ORDER BY r.id"""
    ):
        hop, rows = 0, list[tuple[Any, ...]]()
        for event in json.loads(trace)["events"]:
            if "evidence" in event:
                hop += 1
                digest = event["evidence"]
                if digest not in brought:
                    brought[digest] = _brought(store, digest)
                ids, titles = brought[digest]
                gold = gold_among(questions[question_id], titles)
                counted = (None, None) if gold is None else (bool(gold), len(gold))
                rows.append((key, hop, event["search"], ids, titles, *counted))
            elif event.get("note") == GOLD_HIT and rows and gold is None:
                # Answers made elsewhere may tell it without naming the supporting documents.
                rows[-1] = (*rows[-1][:5], event["values"]["value"], None)
        yield from rows


def _brought(store: RecordStore, digest: str) -> tuple[list[str], list[str]]:
    """Ids and titles of the passages that one search brought."""
    passages = [hit["passage"] for hit in store.shared_text(digest)["hits"]]
    return [passage["id"] for passage in passages], [passage["title"] for passage in passages]


def call_table(store: RecordStore) -> pl.DataFrame:
    """One row per record: key, and how often its method called the model, calls for another purpose aside."""
    rows = store.stream(
        """SELECT r.key, r.n_generations - CASE WHEN r.trace LIKE '%"purpose":%' THEN (
               SELECT COUNT(*) FROM json_each(r.trace, '$.events') e
               WHERE json_extract(e.value, '$.purpose') IS NOT NULL) ELSE 0 END
           FROM records r ORDER BY r.id"""
    )
    return pl.concat(_frames(rows, {"key": pl.String, "n_calls": pl.Int64}), rechunk=True)
