"""Are reworded questions longer, less likely, or further from the original for the model that reads them?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from shaketable.analyses.claims import Claim
from shaketable.analyses.tables import Tables
from shaketable.analyses.wording.answers import NO_QUERY_LOSS, NO_RECORDS, group_replies, read_scores
from shaketable.analyses.wording.asked import Asked
from shaketable.analyses.wording.candidates import claim_differences, spoken_of
from shaketable.analyses.wording.measurements import Measurement, measure_losses, measure_pairs
from shaketable.analyses.wording.numbers import WordingNumber, estimate_numbers
from shaketable.analyses.wording.vectors import ENCODER, Vectors, vectors_of

SCORED = ("query_loss", "query_tokens")
"""What the metric `query_loss` gives."""


@dataclass(frozen=True, kw_only=True, slots=True)
class QueryDifficulty:
    """Are reworded questions harder to read for a model?"""

    encoder: str
    numbers: tuple[WordingNumber, ...]
    """`query_words`, `query_loss`, `query_tokens` of each variation with their losses, and `query_similarity`."""
    reason: str | None = None
    """Why there are no numbers at all."""

    @property
    def losses(self) -> list[WordingNumber]:
        """What rewording takes off the loss of the question itself; below 0 where it makes a question less likely."""
        return spoken_of(number for number in self.numbers if number.metric == "query_loss" and number.is_loss)

    def claims(self) -> Iterable[Claim]:
        """Whether rewording makes questions less likely, or more."""
        return claim_differences(self.losses, "query")


def query_difficulty(tables: Tables, *, encoder: str = ENCODER) -> QueryDifficulty:
    """Length in words (`query_words`) and tokens, loss under the answering model, and similarity of each wording.

    Wordings count once, however many systems and runs were asked. Loss is the mean negative log-likelihood of the
    wording's tokens, in nats; it and `query_tokens` come from the metric `query_loss`.
    """
    if tables.records.is_empty():
        return QueryDifficulty(encoder=encoder, numbers=(), reason=NO_RECORDS if tables.metrics else None)
    once = _once(tables.records)
    scores = {name: read_scores(tables, name) for name in SCORED}
    vectors = vectors_of(once["wording"], encoder)
    numbers = [
        number
        for asked in group_replies(once)
        for number in estimate_numbers(asked, _measure(asked, scores, vectors), tables.bootstrap)
    ]
    return QueryDifficulty(encoder=encoder, numbers=tuple(numbers))


def _once(records: pl.DataFrame) -> pl.DataFrame:
    """Each wording once for each model and dataset, by a trial that did not fail where there is one."""
    nowhere = [pl.lit(None, dtype=pl.String).alias(name) for name in ("method", "retriever", "perturbation")]
    return (
        records.sort(pl.col("answer").is_null(), "key")
        .unique(("dataset", "model", "question_id", "variation", "wording"), keep="first", maintain_order=True)
        .with_columns(*nowhere, temperature=pl.lit(None, dtype=pl.Float64), repeat=pl.lit(0))
    )


def _measure(asked: Asked, scores: Mapping[str, Mapping[str, float | None]], vectors: Vectors) -> list[Measurement]:
    measurements = measure_losses(asked, "query_words", lambda reply: float(len(reply.wording.split())), "count")
    for name, by_key in scores.items():
        measurements += _scored(asked, name, by_key)
    return measurements + measure_pairs(
        asked,
        "query_similarity",
        lambda original, reworded: vectors.similarity(original.wording, reworded.wording),
        reason=vectors.reason,
    )


def _scored(asked: Asked, name: str, scores: Mapping[str, float | None]) -> list[Measurement]:
    if all(scores.get(reply.key) is None for reply in asked.every_reply()):
        return [Measurement(metric=name, variation=None, values={}, reason=NO_QUERY_LOSS)]
    return measure_losses(asked, name, lambda reply: scores.get(reply.key))
