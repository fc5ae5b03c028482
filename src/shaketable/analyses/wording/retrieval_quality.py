"""How well does each retriever find the supporting documents, and what does disturbing its hits cost?"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from shaketable.analyses.rows import Measured
from shaketable.analyses.tables import Tables
from shaketable.factors import UNCHANGED, Cell
from shaketable.statistics.intervals import Bootstrap
from shaketable.types import Estimate

GROUP = ("metric", "dataset", "retriever", "variation")
NUMBERS = ("recall@", "precision@", "ndcg@", "mrr@")
NOT_SCORED = "no retrieval metric was scored; add retrieval to score.metrics"
NO_VALUE = "no record has a value"


@dataclass(frozen=True, kw_only=True, slots=True)
class RetrievalNumber(Measured):
    """A mean over questions; models, temperatures and repeats that share a search are averaged within a question.

    Its cell is of all systems that use the retriever.
    """

    retriever: str | None
    estimate: Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class RetrievalQuality:
    """How well are the supporting documents found, before and after the evidence is disturbed?"""

    levels: tuple[RetrievalNumber, ...]
    losses: tuple[RetrievalNumber, ...]
    """Unchanged minus disturbed, paired by question: what a perturbation costs."""
    reason: str | None = None
    """Why there are no numbers at all."""


def retrieval_quality(tables: Tables) -> RetrievalQuality:
    """The numbers of the metric `retrieval` for each retriever, wording and perturbation, over questions."""
    scored = tables.scores.filter(pl.col("metric").str.contains_any(list(NUMBERS)))
    levels: list[RetrievalNumber] = []
    losses: list[RetrievalNumber] = []
    for (metric, dataset, retriever, variation), group in sorted(
        scored.group_by(*GROUP), key=lambda pair: [str(part) for part in pair[0]]
    ):
        means, differences = _estimates(group, tables.bootstrap)
        for numbers, estimates in ((levels, means), (losses, differences)):
            numbers += [
                RetrievalNumber(
                    cell=Cell(dataset=dataset, variation=variation, perturbation=perturbation),
                    retriever=retriever,
                    metric=metric,
                    estimate=estimate,
                )
                for perturbation, estimate in estimates.items()
            ]
    reason = NOT_SCORED if not levels and not tables.scores.is_empty() else None
    return RetrievalQuality(levels=tuple(levels), losses=tuple(losses), reason=reason)


def _estimates(group: pl.DataFrame, bootstrap: Bootstrap) -> tuple[dict[str, Estimate], dict[str, Estimate]]:
    """By perturbation: the mean, and what is lost against unchanged evidence."""
    wide = (
        group.sort("question_id", "perturbation", "key")
        .group_by("question_id", "perturbation", maintain_order=True)
        .agg(pl.col("value").mean())
        .with_columns(pl.col("perturbation").fill_null(UNCHANGED))
        .pivot("perturbation", index="question_id", values="value", aggregate_function="mean")
    )
    names = sorted((name for name in wide.columns if name != "question_id"), key=lambda name: (name != UNCHANGED, name))
    means = wide.select(pl.col(names).cast(pl.Float64)).to_numpy().T
    disturbed = names[1:] if UNCHANGED in names else []
    if disturbed:
        means = np.concatenate([means, means[:1] - means[1:]])
    estimates = [
        estimate if estimate.n else replace(estimate, reason=NO_VALUE)
        for estimate in bootstrap.means(means.astype(np.float64), wide["question_id"].to_list())
    ]
    return dict(zip(names, estimates, strict=False)), dict(zip(disturbed, estimates[len(names) :], strict=True))
