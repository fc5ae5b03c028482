"""Does a reworded question get the same answer?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from shaketable.analyses.claims import Claim
from shaketable.analyses.tables import Tables
from shaketable.analyses.wording.answers import NO_RECORDS, group_replies
from shaketable.analyses.wording.asked import Asked, Reply
from shaketable.analyses.wording.candidates import claim_differences
from shaketable.analyses.wording.measurements import (
    Measurement,
    measure,
    measure_pairs,
    measure_pairs_beside_noise,
    measure_sets_beside_noise,
)
from shaketable.analyses.wording.numbers import WordingNumber, estimate_numbers
from shaketable.analyses.wording.vectors import ENCODER, Vectors, vectors_of

ALL_EMPTY = "one of the two answers is empty in every pair"


@dataclass(frozen=True, kw_only=True, slots=True)
class Consistency:
    """Does a reworded question get the same answer?"""

    encoder: str
    numbers: tuple[WordingNumber, ...]
    """`similarity`, `both_empty` and `empty` of each variation, and the `diversity` of all wordings together.

    Similarity and diversity beside their `noise_…` and `excess_…`.
    """
    reason: str | None = None
    """Why there are no numbers at all."""

    def claims(self) -> Iterable[Claim]:
        """How much further rewording moves answers than chance does."""
        excesses = (
            number for number in self.numbers if number.metric == "excess_similarity" and not number.answered_only
        )
        return claim_differences(excesses, "consistency")


def consistency(tables: Tables, *, encoder: str = ENCODER) -> Consistency:
    """Similarity of answers to the original's, and diversity of the answers to all wordings of a question.

    `similarity` is the cosine of sentence vectors, 1 for two empty answers; `diversity` is one minus the mean cosine of
    all pairs of wordings; `empty` is the share of empty answers. Where there are some, similarity is told again of the
    pairs without any, and `both_empty` is the share of pairs that are alike for want of an answer. `noise_…` is the
    same between runs of the original wording; `excess_…`: the difference, of similarity below 0 where rewording moves
    answers.
    """
    if tables.records.is_empty():
        return Consistency(encoder=encoder, numbers=(), reason=NO_RECORDS if tables.metrics else None)
    every = group_replies(tables.records)
    vectors = vectors_of((reply.answer for asked in every for reply in asked.every_reply()), encoder)
    numbers = [
        number for asked in every for number in estimate_numbers(asked, _measure(asked, vectors), tables.bootstrap)
    ]
    return Consistency(encoder=encoder, numbers=tuple(numbers))


def _measure(asked: Asked, vectors: Vectors) -> list[Measurement]:
    def compare(original: Reply, reworded: Reply) -> float | None:
        return vectors.similarity(original.answer, reworded.answer)

    def compare_answered(original: Reply, reworded: Reply) -> float | None:
        return None if original.is_empty or reworded.is_empty else compare(original, reworded)

    if not asked.reworded:
        return []
    measurements = measure_pairs_beside_noise(asked, "similarity", compare, reason=vectors.reason)
    measurements += measure_sets_beside_noise(
        asked, "diversity", lambda run: vectors.diversity(reply.answer for reply in run), reason=vectors.reason
    )
    if any(reply.is_empty for reply in asked.every_reply()):
        reason = vectors.reason or ALL_EMPTY
        alone = measure_pairs_beside_noise(asked, "similarity", compare_answered, reason=reason)
        measurements += [replace(measurement, answered_only=True) for measurement in alone]
        measurements += measure_pairs(asked, "both_empty", _are_empty, "share")
    return measurements + measure(asked, "empty", lambda reply: float(reply.is_empty), "share")


def _are_empty(original: Reply, reworded: Reply) -> float:
    return float(original.is_empty and reworded.is_empty)
