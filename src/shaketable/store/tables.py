"""The tables of a run as data frames: what analyses, exports and pages read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import polars as pl

from shaketable.store.evidence_flags import NOTHING_CHANGED
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
GOLD_HIT = "gold_hit"
"""The note of an imported search that says whether it brought a supporting document."""


def record_table(store: RecordStore, first_questions: int | None = None) -> pl.DataFrame:
    """One row per record: key, every factor, answer, failure, counts; of the first questions alone, or of all."""
    rows = store.rows(
        f"""SELECT r.key, q.dataset, q.id, q.text, q.answers, json_extract(q.tags, '$.type'),
                  json_extract(q.tags, '$.n_facts'), c.model, c.method, c.retriever, c.perturbation, v.variation,
                  v.wording, r.temperature, r.repeat, r.seed, r.answer, json_extract(r.failure, '$.kind'),
                  r.n_searches, r.n_generations, r.n_prompt_tokens, r.n_tokens, r.seconds, r.dollars, r.reused
           FROM records r JOIN variants v ON v.id = r.variant JOIN questions q ON q.id = v.question_id
           JOIN conditions c ON c.id = r.condition
           WHERE {first_questions_where(first_questions)} ORDER BY q.place, c.id, v.id, r.temperature, r.repeat"""
    )
    return pl.DataFrame(rows, schema=RECORD_SCHEMA, orient="row")


def search_table(store: RecordStore) -> pl.DataFrame:
    """One row per executed search: key, hop from 1, query, ids and titles of the passages it brought, whether a
    supporting document is among them (None: the question names none), and how many."""
    questions = {question.id: question for question in store.questions()}
    brought: dict[str, tuple[list[str], list[str]]] = {}  # many trials share what one search brought
    rows: list[tuple[Any, ...]] = []
    for key, question_id, trace in store.rows(
        """SELECT r.key, v.question_id, r.trace FROM records r JOIN variants v ON v.id = r.variant
           WHERE r.n_searches > 0 ORDER BY r.id"""
    ):
        hop = 0
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
    return pl.DataFrame(rows, schema=SEARCH_SCHEMA, orient="row")


def _brought(store: RecordStore, digest: str) -> tuple[list[str], list[str]]:
    """Ids and titles of the passages that one search brought."""
    passages = [hit["passage"] for hit in store.shared_text(digest)["hits"]]
    return [passage["id"] for passage in passages], [passage["title"] for passage in passages]


def call_table(store: RecordStore) -> pl.DataFrame:
    """One row per record: key, and how often its method called the model, calls for another purpose aside."""
    rows = store.rows(
        """SELECT r.key, r.n_generations - CASE WHEN r.trace LIKE '%"purpose":%' THEN (
               SELECT COUNT(*) FROM json_each(r.trace, '$.events') e
               WHERE json_extract(e.value, '$.purpose') IS NOT NULL) ELSE 0 END
           FROM records r ORDER BY r.id"""
    )
    return pl.DataFrame(rows, schema={"key": pl.String, "n_calls": pl.Int64}, orient="row")


def score_table(
    scores: pl.DataFrame, records: pl.DataFrame, flags: pl.DataFrame, without_flags: Sequence[str]
) -> pl.DataFrame:
    """Scores with the factors of their records and the flags of their evidence.

    What was not disturbed says nothing of the disturbance (it would count as an effect of 0), so it has no value, nor
    has evidence with one of the flags that the study leaves out: `is_left_out`.
    """
    factors = records.select("key", *FACTORS, "type", "n_facts")
    table = scores.join(factors, on="key", how="inner", maintain_order="left")
    table = table.join(flags, on="key", how="left", maintain_order="left")
    unwanted = [NOTHING_CHANGED, *without_flags]
    has_unwanted = pl.col("flags").str.split(" ").list.set_intersection(unwanted).list.len() > 0
    is_left_out = pl.col("is_left_out")
    return table.with_columns(is_left_out=has_unwanted.fill_null(False)).with_columns(
        value=pl.when(is_left_out).then(None).otherwise("value"),
        reason=pl.when(is_left_out).then(pl.format("left out: {}", "flags")).otherwise("reason"),
    )
