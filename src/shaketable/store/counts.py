"""What is missing from a run, counted by its reason."""

from __future__ import annotations

import collections
from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from shaketable.store.older import older_refusal
from shaketable.store.records import RecordStore
from shaketable.types import REFUSAL, Curve

NO_WORD = "(TRIM(r.answer, ' ' || char(9, 10, 13)) = '')"
"""Whether an answer has nothing but white space."""
NOTHING_WRITTEN = "nothing was written"
"""Why an answer is empty where its method does not say."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FailureCount:
    kind: str
    message: str
    """Of one of them."""
    n: int
    """Trials."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EmptyCount:
    """Trials of a method that ended without a word, for one reason."""

    method: str
    reason: str
    n: int
    answered: int
    """Trials that the method answered in all."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReferenceFlagCount:
    """What is odd about reference answers that the scores compare with."""

    flag: str
    n: int
    """Questions."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RejectedCount:
    """Wordings of a variation that were not asked, for one kind of reason."""

    variation: str
    reason: str
    example: str
    """One of the wordings."""
    n: int


@dataclass(frozen=True, kw_only=True, slots=True)
class UnscoredCount:
    """Numbers that a metric, or a curve, could not give."""

    metric: str
    reason: str | None
    n: int


def count_failures(store: RecordStore) -> tuple[FailureCount, ...]:
    rows = store.rows(
        """SELECT json_extract(failure, '$.kind'), MIN(json_extract(failure, '$.message')), COUNT(*)
           FROM records WHERE failure IS NOT NULL GROUP BY 1 ORDER BY 3 DESC"""
    )
    return tuple(FailureCount(kind=kind, message=message, n=n) for kind, message, n in rows)


def count_empty_answers(store: RecordStore) -> tuple[EmptyCount, ...]:
    rows = store.rows(
        f"""SELECT c.method, CASE WHEN {NO_WORD} THEN json_extract(r.trace, '$.reason') END AS reason,
                   SUM({NO_WORD}) AS n, SUM(COUNT(*)) OVER (PARTITION BY c.method)
            FROM records r JOIN conditions c ON c.id = r.condition WHERE r.answer IS NOT NULL
            GROUP BY c.method, {NO_WORD}, reason ORDER BY c.method, n DESC, reason"""
    )
    return tuple(
        EmptyCount(method=method, reason=(reason or NOTHING_WRITTEN).replace("_", " "), n=n, answered=answered)
        for method, reason, n, answered in rows
        if n
    )


def count_reference_flags(store: RecordStore) -> tuple[ReferenceFlagCount, ...]:
    made_by = store.meta().get("references")
    if not made_by:
        return ()
    rows = store.rows(
        """SELECT f.value, COUNT(*) FROM reference_answers r JOIN json_each(r.flags) f
           WHERE r.made_by = ? GROUP BY 1 ORDER BY 1""",
        made_by,
    )
    return tuple(ReferenceFlagCount(flag=flag, n=n) for flag, n in rows)


def count_rejected(store: RecordStore) -> tuple[RejectedCount, ...]:
    examples: dict[tuple[str, str], str] = {}
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    for variation, reason, wording, refusal in store.rows(
        f"""SELECT variation, rejected, wording, json_extract(provenance, '$.{REFUSAL}') FROM variants
            WHERE rejected IS NOT NULL ORDER BY variation, id"""
    ):
        kind = variation, refusal.replace("_", " ") if refusal else older_refusal(reason)
        examples.setdefault(kind, wording)
        counts[kind] += 1
    ordered = sorted(counts, key=lambda kind: (kind[0], -counts[kind], kind[1]))
    return tuple(
        RejectedCount(variation=variation, reason=reason, example=examples[variation, reason], n=counts[kind])
        for kind in ordered
        for variation, reason in [kind]
    )


def count_unscored(scores: pl.LazyFrame, curves: Iterable[Curve]) -> tuple[UnscoredCount, ...]:
    missing = scores.filter(pl.col("value").is_null()).group_by("metric", "reason").len("n").sort("metric", "reason")
    rows = missing.collect().iter_rows()
    reasons = collections.Counter(curve.reason for curve in curves if curve.reason)
    every = [*rows, *(("curve", reason, n) for reason, n in sorted(reasons.items()))]
    return tuple(UnscoredCount(metric=metric, reason=reason, n=n) for metric, reason, n in every)
