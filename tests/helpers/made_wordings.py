"""Answers to reworded questions, in one line each: records, scores and searches as a run gives them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from shaketable.analyses.tables import Tables
from shaketable.statistics.intervals import Bootstrap
from shaketable.store.tables import SEARCH_SCHEMA
from shaketable.types import STRENGTH, Strength, Variant

PLACE = {
    "dataset": "squad",
    "model": "m",
    "method": "search_o1",
    "retriever": "bm25",
    "perturbation": "unchanged",
    "temperature": 0.0,
}
NO_RETRIEVAL = {"method": "closed_book", "retriever": None, "perturbation": None}
TYPES: dict[str, Any] = {
    "retriever": pl.String,
    "perturbation": pl.String,
    "answer": pl.String,
    "temperature": pl.Float64,
    "correct": pl.Float64,
}


class Compass:
    """An encoder of texts that are directions, such as `0.6,0.8`; others point the way of their length."""

    def embed(self, texts: Sequence[str]) -> Any:
        found = []
        for text in texts:
            try:
                found.append([float(part) for part in text.split(",")])
            except ValueError:
                found.append([np.cos(len(text) / 9), np.sin(len(text) / 9)])
        return np.array([np.array(one) / np.linalg.norm(one) for one in found], dtype=np.float32)


def trial(question: str, variation: str = "original", *, wording: str | None = None, **more: Any) -> dict[str, Any]:
    """One record; `correct` is its score, None for a failed one."""
    wording = f"{question} {variation}" if wording is None else wording
    row = {
        **PLACE,
        "question_id": question,
        "variation": variation,
        "wording": wording,
        "repeat": 0,
        "answer": "Rome",
        "correct": 1.0,
        "n_searches": 0,
        "n_generations": 1,
        "n_tokens": 10,
        **more,
    }
    row["key"] = "/".join(
        str(row[name]) for name in ("model", "method", "question_id", "variation", "wording", "repeat")
    )
    return row


def made(trials: Iterable[Mapping[str, Any]]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The score table, with the metric contains, and the records."""
    frame = pl.DataFrame(list(trials), schema_overrides=TYPES, infer_schema_length=None)
    table = frame.select(
        "key", *PLACE, "question_id", "variation", "repeat", metric=pl.lit("contains"), value=pl.col("correct"),
        reason=pl.when(pl.col("correct").is_null()).then(pl.lit("failed: timeout")),
        type=pl.lit(None, dtype=pl.String), n_facts=pl.lit(None, dtype=pl.Int64),
    )  # fmt: skip
    records = frame.drop("correct").with_columns(failure=pl.when(pl.col("answer").is_null()).then(pl.lit("timeout")))
    return table, records


def searches(*made: tuple[Mapping[str, Any], Sequence[tuple[str, str, bool | None]]]) -> pl.DataFrame:
    """Of each trial the searches: query, ids of the passages as letters, whether it is a hit."""
    rows = [
        (one["key"], hop, query, list(passages), list(passages), is_hit, None)
        for one, hops in made
        for hop, (query, passages, is_hit) in enumerate(hops, 1)
    ]
    return pl.DataFrame(rows, schema=SEARCH_SCHEMA, orient="row")


def several() -> tuple[list[dict[str, Any]], Any]:
    """Six questions, three wordings, two runs, with and without searching; one failed trial."""
    trials, made_ = [], []
    for i in range(6):
        for j, variation in enumerate(("original", "spelling", "human")):
            for repeat in range(2):
                n = (i + j + repeat) % 3
                one = trial(
                    f"q{i}", variation, repeat=repeat, n_searches=n, n_generations=n + 1,
                    answer=f"{i},{j + repeat + 1}", correct=float((i * j + repeat) % 2),
                )  # fmt: skip
                hops = [(f"{i + 1},{j + hop}", "abcdef"[hop : hop + 1 + j], (i + hop) % 2 == 0) for hop in range(n)]
                trials += [one, trial(f"q{i}", variation, repeat=repeat, correct=float(i % 2), **NO_RETRIEVAL)]
                made_.append((one, hops))
    trials[6] |= {"answer": None, "correct": None}
    return trials, searches(*made_)


def tables_of(trials: Iterable[Mapping[str, Any]], **tables: pl.DataFrame) -> Tables:
    """What analyses read of these trials; of `searches` and `calls` what is given."""
    scores, records = made(trials)
    read = {f"read_{name}": lambda table=table: table for name, table in tables.items()}
    return Tables(scores=scores, read_records=lambda: records, bootstrap=Bootstrap(n_resamples=99), **read)


def only(numbers: Iterable[Any], **wanted: Any) -> Any:
    """The one number with these values, in its cell or itself."""
    (number,) = [number for number in numbers if all(_field(number, name) == value for name, value in wanted.items())]
    return number


def _field(number: Any, name: str) -> Any:
    owners = (number, number.cell, number.cell.system)
    return next(getattr(owner, name) for owner in owners if hasattr(owner, name))


def reworded_variants(variation: str, strengths: Sequence[Strength | None]) -> list[Variant]:
    """A wording of each question, as `trial` names them, with its strength."""
    return [
        Variant(
            question_id=f"q{i}",
            text=f"q{i} {variation}",
            variation=variation,
            provenance={} if strength is None else {STRENGTH: dataclasses.asdict(strength)},
        )
        for i, strength in enumerate(strengths)
    ]
