"""How well does each retriever find the supporting documents, and what does disturbing its hits cost?"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from shaketable.analyses.conditions import ORIGINAL
from shaketable.report.old_words import named
from shaketable.statistics.intervals import known, mean_estimates
from shaketable.types import OldFinding

PLACE = ("metric", "dataset", "retriever", "variation")
NUMBERS = ("recall@", "precision@", "ndcg@", "mrr@")
QUESTION = "How well are the supporting documents found, before and after the evidence is disturbed?"


def retrieval_quality(table: pl.DataFrame, *, confidence: float = 0.95, n_resamples: int = 2000) -> OldFinding:
    """The numbers of the metric `retrieval` for each retriever, wording and perturbation, over questions.

    Rows without `contrast` are means; rows with one are differences paired by question, `unchanged - X`: what
    perturbation X costs. Models, temperatures and repeats that share a search are averaged within a question.
    """
    scored = table.filter(pl.col("metric").str.contains_any(list(NUMBERS)))
    settings = {"confidence": confidence, "n_resamples": n_resamples}
    rows: list[dict[str, Any]] = []
    for place, group in sorted(scored.group_by(*PLACE), key=lambda one: [str(part) for part in one[0]]):
        rows += _rows(dict(zip(PLACE, place, strict=True)), group, confidence, n_resamples)
    if not rows and not table.is_empty():
        reason = "no retrieval metric was scored; add retrieval to score.metrics"
        rows = [_row(dict.fromkeys(PLACE), None, None, np.full(3, np.nan), 0, reason)]
    caveats = (f"Intervals: {confidence:.0%}, percentile bootstrap over questions ({n_resamples:,} resamples).",)
    return OldFinding(
        analysis="retrieval_quality",
        question=QUESTION,
        rows=tuple(rows),
        sentences=tuple(_sentence(row) for row in rows if row["value"] is not None and row["metric"][:6] == "recall"),
        caveats=caveats if rows else (),
        settings=settings,
    )


def _rows(place: dict[str, Any], group: pl.DataFrame, confidence: float, n_resamples: int) -> list[dict[str, Any]]:
    wide = (
        group.sort("question_id", "perturbation", "key")
        .group_by("question_id", "perturbation", maintain_order=True)
        .agg(pl.col("value").mean())
        .with_columns(pl.col("perturbation").fill_null(ORIGINAL))
        .pivot("perturbation", index="question_id", values="value", aggregate_function="mean")
    )
    names = sorted((name for name in wide.columns if name != "question_id"), key=lambda name: (name != ORIGINAL, name))
    means = wide.select(pl.col(names).cast(pl.Float64)).to_numpy().T
    labels: list[tuple[str, str | None]] = [(name, None) for name in names]
    if ORIGINAL in names:
        labels += [(name, f"{ORIGINAL} - {name}") for name in names[1:]]
        means = np.concatenate([means, means[:1] - means[1:]])
    estimates, counts = mean_estimates(
        means.astype(np.float64), wide["question_id"].to_list(), confidence=confidence, n_resamples=n_resamples
    )
    return [
        _row(place, perturbation, contrast, estimate, int(n), None if n else "no record has a value")
        for (perturbation, contrast), estimate, n in zip(labels, estimates, counts, strict=True)
    ]


def _row(
    place: dict[str, Any], perturbation: str | None, contrast: str | None, estimate: Any, n: int, reason: str | None
) -> dict[str, Any]:
    return {
        "analysis": "retrieval_quality",
        **place,
        "perturbation": perturbation,
        "contrast": contrast,
        **known(estimate),
        "n": n,
        "unit": "score",
        "reason": reason,
    }


def _sentence(row: dict[str, Any]) -> str:
    interval = f" [{row['low']:.2f}, {row['high']:.2f}]" if row["low"] is not None else ""
    number = f"{row['value']:.2f}{interval} (n = {row['n']:,})"
    if row["contrast"]:
        return f"{row['retriever']}: {named(row['perturbation'])} costs {number} of {row['metric']}."
    return f"{row['retriever']}, {named(row['perturbation'])}: {row['metric']} is {number}."
