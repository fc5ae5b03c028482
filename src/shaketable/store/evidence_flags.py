"""What perturbations could not do as asked: the flags of every search of a record."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from shaketable.store.records import RecordStore

NOTHING_CHANGED = "nothing_changed"
"""The flag of a record whose evidence no search disturbed, whatever kept the perturbation from it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FlagCount:
    perturbation: str | None
    flag: str
    n: int
    """Questions."""


def evidence_flags(store: RecordStore) -> pl.DataFrame:
    """One row per record whose evidence was not disturbed as asked: key, and the flags of all searches as words.

    `nothing_changed` is among them where no search was changed at all.
    """
    flagged = {
        digest: (json.loads(flags), n_edits)
        for digest, flags, n_edits in store.rows(
            """SELECT digest, json_extract(body, '$.flags'), json_array_length(body, '$.edits') FROM texts
               WHERE body LIKE '%"flags":["%'"""
        )
    }
    rows: list[tuple[str, str]] = []
    for key, digests in _evidence_of_records(store) if flagged else ():
        flags = sorted({flag for digest in digests for flag in flagged.get(digest, ((), 0))[0]})
        if flags and all(digest in flagged and not flagged[digest][1] for digest in digests):
            flags.append(NOTHING_CHANGED)
        if flags:
            rows.append((key, " ".join(flags)))
    return pl.DataFrame(rows, schema={"key": pl.String, "flags": pl.String}, orient="row")


def _evidence_of_records(store: RecordStore) -> Iterator[tuple[str, list[str]]]:
    """Keys of records that searched, and the digests of what their searches brought."""
    rows = store.stream(
        """SELECT r.key, json_group_array(json_extract(e.value, '$.evidence')) FROM records r
           JOIN json_each(r.trace, '$.events') e
           WHERE r.n_searches > 0 AND json_extract(e.value, '$.evidence') IS NOT NULL GROUP BY r.key"""
    )
    return ((key, json.loads(digests)) for key, digests in rows)


def count_flags(flags: pl.DataFrame, records: pl.DataFrame) -> tuple[FlagCount, ...]:
    """How many questions, by perturbation and flag."""
    factors = records.select("key", "perturbation", "dataset", "question_id")
    words = flags.join(factors, on="key").with_columns(flag=pl.col("flags").str.split(" "))
    counted = words.explode("flag").select("perturbation", "flag", "dataset", "question_id").unique()
    rows = counted.group_by("perturbation", "flag").len("n").sort("perturbation", "flag").iter_rows()
    return tuple(FlagCount(perturbation=perturbation, flag=flag, n=n) for perturbation, flag, n in rows)
