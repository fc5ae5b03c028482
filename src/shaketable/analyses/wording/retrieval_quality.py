"""How well does each retriever find the supporting documents, and what does disturbing its hits cost?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from shaketable.analyses.claims import Claim, Subject
from shaketable.analyses.rows import Measured
from shaketable.analyses.tables import Tables
from shaketable.factors import UNCHANGED, Cell
from shaketable.statistics.intervals import ROUNDING, Bootstrap
from shaketable.statistics.sign_flips import sign_flip
from shaketable.types import Estimate

GROUP = ("metric", "dataset", "retriever", "variation")
NUMBERS = ("recall@", "precision@", "ndcg@", "mrr@")
NOT_SCORED = "no retrieval metric was scored; add retrieval to score.metrics"
NO_VALUE = "no record has a value"
Tested = Mapping[str, tuple[Estimate, float | None]]
"""By perturbation, with p."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RetrievalNumber(Measured):
    """A mean over questions; models, temperatures and repeats that share a search are averaged within a question.

    Its cell is of all systems that use the retriever.
    """

    retriever: str | None
    estimate: Estimate
    p: float | None = None
    """Of a loss: that it is not 0, by signs flipped, not adjusted; None: it is none, or there was nothing to test."""

    @property
    def is_recall(self) -> bool:
        """Sentences speak of recall."""
        return self.metric.partition("@")[0] == "recall" and self.estimate.value is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class RetrievalQuality:
    """How well are the supporting documents found, before and after the evidence is disturbed?"""

    levels: tuple[RetrievalNumber, ...]
    losses: tuple[RetrievalNumber, ...]
    """Unchanged minus disturbed, paired by question: what a perturbation costs."""
    reason: str | None = None
    """Why there are no numbers at all."""

    def claims(self) -> Iterable[Claim]:
        """What a perturbation does to the recall of a retriever; datasets and wordings weigh as one claim."""
        losses = [loss for loss in self.losses if loss.is_recall]
        counts = Counter(_name_claim(loss) for loss in losses)
        for loss in losses:
            yield Claim(
                subject=Subject(kind="retrieval", cell=loss.cell, metric=loss.metric, other=loss.retriever or ""),
                estimate=loss.estimate,
                p=loss.p,
                weight=1 / counts[_name_claim(loss)],
            )


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
                    p=p,
                )
                for perturbation, (estimate, p) in estimates.items()
            ]
    reason = NOT_SCORED if not levels and tables.metrics else None
    return RetrievalQuality(levels=tuple(levels), losses=tuple(losses), reason=reason)


def _name_claim(loss: RetrievalNumber) -> tuple[object, ...]:
    return loss.retriever, loss.metric, loss.cell.perturbation


def _estimates(group: pl.DataFrame, bootstrap: Bootstrap) -> tuple[Tested, Tested]:
    """By perturbation: the mean, and what is lost against unchanged evidence with its p."""
    wide = (
        group.sort("question_id", "perturbation", "key")
        # A temperature that was repeated more often than others counts as they do.
        .group_by("question_id", "perturbation", "model", "method", "temperature", maintain_order=True)
        .agg(pl.col("value").mean())
        .group_by("question_id", "perturbation", maintain_order=True)
        .agg(pl.col("value").mean())
        .with_columns(pl.col("perturbation").fill_null(UNCHANGED))
        .pivot("perturbation", index="question_id", values="value", aggregate_function="mean")
    )
    names = sorted((name for name in wide.columns if name != "question_id"), key=lambda name: (name != UNCHANGED, name))
    means = wide.select(pl.col(names).cast(pl.Float64)).to_numpy().T.astype(np.float64)
    disturbed = names[1:] if UNCHANGED in names else []
    drops = np.round(means[:1] - means[1:], ROUNDING) if disturbed else means[:0]
    question_ids = wide["question_id"].to_list()
    is_drop = [False] * len(means) + [True] * len(drops)
    estimates = [
        estimate if estimate.n else replace(estimate, reason=NO_VALUE)
        for estimate in bootstrap.means(np.concatenate([means, drops]), question_ids, is_difference=is_drop)
    ]
    levels, losses = estimates[: len(names)], estimates[len(names) :]
    p_values = [None if np.isnan(p) else p for p in sign_flip(drops, question_ids)]
    return (
        {name: (estimate, None) for name, estimate in zip(names, levels, strict=True)},
        dict(zip(disturbed, zip(losses, p_values, strict=True), strict=True)),
    )
