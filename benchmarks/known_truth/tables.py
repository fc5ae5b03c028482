"""Drawn scores → the tables that analyses read; every study is a dataset of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from known_truth.draws import Numbers, Rng, with_failures
from shaketable.analyses.tables import Tables

PERTURBATIONS = ("unchanged", "sentence_removal", "sentence_replacement", "entity_masking")
Draw = Callable[[Rng, int, int], Numbers]
"""Studies and questions → scores."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """What the axes of drawn scores are."""

    metric: str = "correct"
    temperatures: tuple[float, ...] = (0.0,)
    types: tuple[str | None, ...] = (None,)
    """Of the questions, one after the other, again and again."""
    failures: float = 0.0
    """The share of records that failed."""
    margin: float | None = None


def score_tables(rng: Rng, studies: int, n: int, word: str, *, draw: Draw, layout: Layout) -> Tables:
    """`word` begins the ids of the questions, which are the seed of the bootstrap."""
    values = draw(rng, studies, n)
    if layout.failures:
        values = with_failures(rng, values, layout.failures)
    return Tables(scores=score_table(values, layout, word), margin=layout.margin)


def score_table(values: Numbers, layout: Layout, word: str) -> pl.DataFrame:
    studies, evidence, temperatures, n, _ = values.shape
    assert temperatures == len(layout.temperatures)
    study, noise, heat, question, run = (axis.ravel() for axis in np.indices(values.shape))
    types = pl.Series(list(np.resize(np.array(layout.types, dtype=object), n)), dtype=pl.String)
    names = pl.Series([f"{word}{i:04}" for i in range(n)])
    return pl.DataFrame(
        {
            "key": pl.Series(np.arange(values.size)).cast(pl.String),
            "dataset": pl.Series([f"study{i:05}" for i in range(studies)]).gather(study),
            "question_id": names.gather(question),
            "type": types.gather(question),
            "n_facts": pl.Series([2], dtype=pl.Int64).new_from_index(0, values.size),
            "perturbation": pl.Series(list(PERTURBATIONS[:evidence])).gather(noise),
            "temperature": np.array(layout.temperatures)[heat],
            "repeat": run.astype(np.int64),
            "value": pl.Series(values.ravel()).fill_nan(None),
        }
    ).with_columns(
        model=pl.lit("model"),
        method=pl.lit("single_retrieval"),
        retriever=pl.lit("gold"),
        variation=pl.lit("original"),
        metric=pl.lit(layout.metric),
        reason=pl.when(pl.col("value").is_null()).then(pl.lit("failed: timeout")),
    )
