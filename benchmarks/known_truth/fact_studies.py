"""Studies of facts: two models that hold the same facts alike, and nothing foretells where a fact breaks."""

from __future__ import annotations

import numpy as np
import polars as pl

from known_truth.draws import Rng
from shaketable.analyses.tables import Tables
from shaketable.types import Study

MODELS = ("first", "second")
LABELS = ("NUM", "LOC", "ENTY", "HUM")
KNOWN = 0.75
"""The share of facts that are right at temperature 0."""


def fact_tables(rng: Rng, n: int, word: str, study: Study) -> Tables:
    parts = [_table(rng, n, word, study, model) for model in MODELS]
    return Tables(scores=pl.concat(parts), scan=study.scan, repeats=study.repeats)


def _table(rng: Rng, n: int, word: str, study: Study, model: str) -> pl.DataFrame:
    heat = np.array([temperature for temperature in study.temperatures if temperature > 0])
    right = (rng.random(n) < KNOWN).astype(np.float64)
    greedy = {
        "exact_match": right,
        "contains": right,
        "entropy": rng.uniform(0.02, 0.6, n),
        "margin": rng.uniform(0, 3, n),
        "certainty": rng.uniform(0.5, 1, n),
        "answer_tokens": rng.integers(1, 4, n).astype(np.float64),
    }
    middle = rng.uniform(0.3, 2.6, n)
    chance = right[:, None] / (1 + np.exp(6 * (heat - middle[:, None])))
    size = (n, len(heat), study.repeats)
    hot = {
        "contains": (rng.random(size) < chance[..., None]).astype(np.float64),
        "certainty": rng.uniform(0.3, 1, size),
    }
    cool = [_rows(values[:, None, None], np.zeros(1), metric, word) for metric, values in greedy.items()]
    parts = [*cool, *(_rows(values, heat, metric, word) for metric, values in hot.items())]
    return pl.concat(parts).with_columns(
        key=pl.concat_str(pl.lit(f"{model}/"), "key"),
        dataset=pl.lit("facts"),
        n_facts=pl.lit(0, dtype=pl.Int64),
        model=pl.lit(model),
        method=pl.lit("recall"),
        retriever=pl.lit(None, dtype=pl.String),
        perturbation=pl.lit(None, dtype=pl.String),
        variation=pl.lit("original"),
        reason=pl.lit(None, dtype=pl.String),
    )


def _rows(values: np.ndarray, temperatures: np.ndarray, metric: str, word: str) -> pl.DataFrame:
    """Questions × temperatures × runs; the same record has the same key under every metric."""
    question, heat, run = (axis.ravel() for axis in np.indices(values.shape))
    at = temperatures[heat]
    return pl.DataFrame({"question": question, "temperature": at, "repeat": run, "value": values.ravel()}).select(
        "temperature",
        "repeat",
        "value",
        key=pl.format("{}/{}/{}", "question", "temperature", "repeat"),
        question_id=pl.format(f"{word}{{}}", pl.col("question").cast(pl.String).str.zfill(4)),
        type=pl.col("question").map_elements(lambda i: LABELS[i % len(LABELS)], return_dtype=pl.String),
        metric=pl.lit(metric),
    )
