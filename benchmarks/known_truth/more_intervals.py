"""The situations of facts, rewordings and evidence against closed book; every study is a model of its own."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
import polars as pl

from known_truth import draws, readings
from known_truth.coverage import Coverage, Number
from known_truth.draws import Numbers, Rng
from known_truth.tables import Layout, score_table
from shaketable.analyses.facts.breaking import breaking
from shaketable.analyses.tables import Tables
from shaketable.analyses.together.context_reliance import context_reliance
from shaketable.analyses.wording.search_decisions import search_decisions
from shaketable.analyses.wording.wording_accuracy import wording_accuracy
from shaketable.types import Scan

RHO = -0.6
"""Of entropy and breaking temperature, uncensored."""
TAU = 2 / math.pi * math.asin(RHO)
"""Kendall's of the same."""
GRID = np.round(np.arange(1, 11) * 0.2, 1)
NOTHING = pl.lit(None, dtype=pl.String)


def breaking_tables(rng: Rng, studies: int, n: int, word: str) -> Tables:
    """Known facts; a fifth or so breaks beyond temperature 2, where the scan ends."""
    first, second = rng.standard_normal((2, studies, n))
    entropy = np.clip(0.4 + 0.08 * first, 0, 1)
    at = 1.6 + 0.5 * (RHO * first + np.sqrt(1 - RHO**2) * second)
    holds = (at[..., None] > GRID).astype(np.float64)
    greedy = {"exact_match": np.ones((studies, n)), "contains": np.ones((studies, n)), "entropy": entropy}
    parts = [_rows(values[..., None], np.zeros(1), metric, word) for metric, values in greedy.items()]
    scores = pl.concat([*parts, _rows(holds, GRID, "contains", word)]).with_columns(
        method=pl.lit("recall"), retriever=NOTHING, perturbation=NOTHING, variation=pl.lit("original")
    )
    return Tables(scores=scores, scan=Scan(), repeats=1)


def _rows(values: Numbers, temperatures: Numbers, metric: str, word: str) -> pl.DataFrame:
    """Studies × questions × temperatures; the same record has the same key under every metric."""
    study, question, heat = (axis.ravel() for axis in np.indices(values.shape))
    return pl.DataFrame({"study": study, "question": question, "temperature": temperatures[heat]}).select(
        "temperature",
        key=pl.format("{}/{}/{}", "study", "question", "temperature"),
        model=pl.format("model{}", pl.col("study").cast(pl.String).str.zfill(5)),
        question_id=pl.format(f"{word}{{}}", pl.col("question").cast(pl.String).str.zfill(4)),
        value=pl.Series(values.ravel()),
        metric=pl.lit(metric),
        dataset=pl.lit("facts"),
        type=NOTHING,
        n_facts=pl.lit(0, dtype=pl.Int64),
        repeat=pl.lit(0, dtype=pl.Int64),
        reason=NOTHING,
    )


def decision_tables(rng: Rng, studies: int, n: int, word: str, *, kept: float) -> Tables:
    """One rewording, after which a question is searched for `kept` times as often as after the original; three runs."""
    acting = draws.chances(rng, (studies, n), 0.6, 0.5)
    acts = np.stack([draws.answers(rng, acting, 3), draws.answers(rng, kept * acting, 3)], axis=1)
    study, wording, question, run = (axis.ravel() for axis in np.indices(acts.shape))
    records = pl.DataFrame({"study": study, "question": question, "repeat": run}).select(
        "repeat",
        key=pl.format("{}/{}/{}/{}", "study", pl.Series(wording), "question", "repeat"),
        model=pl.format("model{}", pl.col("study").cast(pl.String).str.zfill(5)),
        question_id=pl.format(f"{word}{{}}", pl.col("question").cast(pl.String).str.zfill(4)),
        variation=pl.Series(["original", "spelling"]).gather(wording),
        n_searches=pl.Series(acts.ravel().astype(np.int64)),
        dataset=pl.lit("builtin"),
        method=pl.lit("search_o1"),
        retriever=pl.lit("bm25"),
        perturbation=pl.lit("unchanged"),
        temperature=pl.lit(0.7),
        answer=pl.lit("answer"),
        n_generations=pl.lit(1, dtype=pl.Int64),
        n_tokens=pl.lit(10, dtype=pl.Int64),
        failure=NOTHING,
    )
    records = records.with_columns(wording="variation")
    scores = records.select(
        *("key", "dataset", "question_id", "model", "method", "retriever", "perturbation", "variation"),
        *("temperature", "repeat"),
        value=pl.lit(1.0),
        metric=pl.lit("correct"),
        type=NOTHING,
        n_facts=pl.lit(2, dtype=pl.Int64),
        reason=NOTHING,
    )
    return Tables(scores=scores, read_records=lambda: records, repeats=3)


def reliance_tables(rng: Rng, studies: int, n: int, word: str) -> Tables:
    """Correct in 0.8 with evidence, 0.6 with disturbed evidence, 0.4 closed book: half of what it brings is lost."""
    shares = np.array([0.8, 0.6, 0.4]) / 0.8
    known = draws.chances(rng, (studies, 1, 1, n), 0.8, 0.3)
    values = draws.answers(rng, known * shares[:, None, None], 3)
    searched, closed = (score_table(own, Layout(), word) for own in (values[:, :2], values[:, 2:]))
    closed = closed.with_columns(
        key=pl.concat_str(pl.lit("c/"), "key"), method=pl.lit("closed_book"), retriever=NOTHING, perturbation=NOTHING
    )
    return Tables(scores=pl.concat([searched, closed]), repeats=3)


REWORDINGS = ("declarative", "formality", "grammar", "imperative", "readability", "spelling")
COSTS = (0.0, 0.0, 0.0, 0.0, 0.05, 0.1)


def rewording_tables(rng: Rng, studies: int, n: int, word: str) -> Tables:
    """Six rewordings, each with its cost in correctness; three runs."""
    known = draws.chances(rng, (studies, 1, 1, n), 0.6, 0.5)
    parts = []
    for variation, cost in zip(("original", *REWORDINGS), (0.0, *COSTS), strict=True):
        table = score_table(draws.answers(rng, known * (1 - cost / 0.6), 3), Layout(), word)
        parts.append(
            table.with_columns(
                key=pl.concat_str(pl.lit(f"{variation}/"), "key"),
                variation=pl.lit(variation),
                model="dataset",
                dataset=pl.lit("builtin"),
            )
        )
    return Tables(scores=pl.concat(parts), repeats=3)


def excess_of(kept: float) -> float:
    """How much more often two wordings decide otherwise than two runs of one; chances have mean 0.6, icc 0.5."""
    mean, square = 0.6, 0.6**2 + 0.5 * 0.6 * 0.4
    return (kept - 1) * mean + 2 * (1 - kept) * square


def cases(n: int, *, full: bool) -> Iterator[Coverage]:
    censored = Number(what="tau of entropy and censored breaking", truth=TAU, read=readings.taus)
    yield Coverage(n=n, make=breaking_tables, analysis=breaking, numbers=(censored,), slowness=4)
    for kept in (1.0, 0.5):
        truth = excess_of(kept)
        number = Number(what=f"excess of flips {truth:.2g}", truth=truth, read=readings.excesses)
        make = partial(decision_tables, kept=kept)
        yield Coverage(n=n, make=make, analysis=search_decisions, numbers=(number,), slowness=8)
    together = Number(what="six rewordings, all at once", truth=0.0, read=partial(readings.all_losses, costs=COSTS))
    yield Coverage(n=n, make=rewording_tables, analysis=wording_accuracy, numbers=(together,), slowness=8)
    reliance = Number(what="reliance on evidence 0.5", truth=0.5, read=readings.reliances)
    yield Coverage(n=n, make=reliance_tables, analysis=context_reliance, numbers=(reliance,), slowness=2)
