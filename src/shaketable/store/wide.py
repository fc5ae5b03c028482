"""One wide table: a row per record with its factors, texts, evidence, costs, and a column for each number."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from shaketable.store.records import RecordStore
from shaketable.store.score_tables import ScoreTables
from shaketable.store.selection import OWN_TAGS
from shaketable.store.tables import RECORD_COLUMNS, record_slices

RECORDS_AT_ONCE = 10_000
"""Their evidence is in memory together."""
KEYS_AT_ONCE = 500
"""In one query."""
PASSAGE = pl.Struct({"id": pl.String, "title": pl.String, "text": pl.String})
OWN_SCHEMA: dict[str, Any] = {
    "key": pl.String,
    "failure_message": pl.String,
    "working": pl.String,
    "queries": pl.List(pl.String),
    "passages": pl.List(PASSAGE),
}
"""What the table of records leaves out: why a trial failed, what was written on the way to an answer, what was searched
for, and the passages that all its searches brought, after the perturbation, in their order."""
MISSING = "_missing"
"""Behind the name of a number: the column with the reasons why there is none."""

TAKEN = frozenset({*RECORD_COLUMNS, *OWN_SCHEMA, "flags"})
"""Columns that every wide table has."""
TAG = "tag_"
"""Before the name of a tag whose own name another column has."""

Passage = dict[str, str]


def wide_slices(store: RecordStore, scores: ScoreTables, flags: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Some rows after the other; one slice at least. Lists are lists, and what is missing is null with its reason."""
    columns = number_columns(scores.metrics)
    tags = _tags(store, {*TAKEN, *columns.values(), *(f"{name}{MISSING}" for name in columns.values())})
    for records in record_slices(store):
        for some in records.iter_slices(RECORDS_AT_ONCE) if records.height else [records]:
            keys = some["key"].to_list()
            wide = some.with_columns(pl.col("gold").str.json_decode(pl.List(pl.String)))
            wide = wide.join(_own(store, keys), on="key", how="left", maintain_order="left")
            wide = wide.join(flags.select("key", "flags"), on="key", how="left", maintain_order="left")
            wide = wide.with_columns(pl.col("flags").fill_null("").str.split(" ").list.filter(pl.element() != ""))
            wide = wide.join(tags, on="question_id", how="left", maintain_order="left")
            yield _with_numbers(wide, scores.of_records(keys), columns)


def number_columns(numbers: Sequence[str]) -> dict[str, str]:
    """Number → its column: its name, unless the records have a column of that name."""
    taken = set(TAKEN)
    columns: dict[str, str] = {}
    for number in numbers:
        name = number
        while name in taken or f"{name}{MISSING}" in taken:
            name = f"score_{name}"
        taken |= {name, f"{name}{MISSING}"}
        columns[number] = name
    return columns


def _with_numbers(wide: pl.DataFrame, scores: pl.DataFrame, columns: Mapping[str, str]) -> pl.DataFrame:
    for number, name in columns.items():
        own = scores.filter(metric=number).select(
            "key", pl.col("value").alias(name), pl.col("reason").alias(f"{name}{MISSING}")
        )
        wide = wide.join(own, on="key", how="left", maintain_order="left")
    return wide


def _tags(store: RecordStore, taken: Collection[str]) -> pl.DataFrame:
    """A row for each question, with a column for each tag that records have none of yet."""
    rows = [(id, json.loads(tags)) for id, tags in store.rows("SELECT id, tags FROM questions")]
    names = list(dict.fromkeys(name for _, tags in rows for name in tags if name not in OWN_TAGS))
    columns: dict[str, pl.Series] = {"question_id": pl.Series([id for id, _ in rows], dtype=pl.String)}
    for name in names:
        column = name
        while column in taken or column in columns:
            column = f"{TAG}{column}"
        columns[column] = _tag_values([tags.get(name) for _, tags in rows])
    return pl.DataFrame(columns)


def _tag_values(values: Sequence[Any]) -> pl.Series:
    """Of one type where all have one, else as texts; of lists and objects their JSON."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return pl.Series(values, dtype=pl.Boolean)
    if kinds == {int} and all(value is None or abs(value) < 2**63 for value in values):
        return pl.Series(values, dtype=pl.Int64)
    if kinds and kinds <= {int, float}:
        return pl.Series([None if value is None else float(value) for value in values], dtype=pl.Float64)
    texts = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
    return pl.Series(texts, dtype=pl.String)


def _own(store: RecordStore, keys: Sequence[str]) -> pl.DataFrame:
    rows: list[tuple[Any, ...]] = []
    shown: dict[str, list[Passage]] = {}  # Many trials share what one search brought.
    for start in range(0, len(keys), KEYS_AT_ONCE):
        some = keys[start : start + KEYS_AT_ONCE]
        sql = f"""SELECT key, json_extract(failure, '$.message'), trace FROM records
                  WHERE key IN ({", ".join("?" * len(some))})"""
        for key, message, packed in store.rows(sql, *some):
            trace = json.loads(packed)
            searches = [event for event in trace["events"] if "evidence" in event]
            for event in searches:
                if event["evidence"] not in shown:
                    shown[event["evidence"]] = _passages(store, event["evidence"])
            passages = [passage for event in searches for passage in shown[event["evidence"]]]
            queries = [event["search"] for event in searches]
            rows.append((key, message, trace.get("working") or None, queries, passages))
    return pl.DataFrame(rows, schema=OWN_SCHEMA, orient="row")


def _passages(store: RecordStore, digest: str) -> list[Passage]:
    return [
        {
            "id": passage["id"],
            "title": passage["title"],
            "text": " ".join(sentence["text"] for sentence in passage.get("sentences", ())),
        }
        for passage in (hit["passage"] for hit in store.shared_text(digest)["hits"])
    ]
