"""Does drift explain loss: from the wording to the queries, to what they find, to the answer?"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import polars as pl

from shaketable.analyses.wording.hops import MissingHops, Trails, trails_of
from shaketable.analyses.wording.rewording import (
    NO_RECORDS,
    Asked,
    Row,
    asked_of,
    by_people,
    finding_of,
    nothing_row,
    place_row,
    scores_of,
    tell,
    told_variation,
    where,
)
from shaketable.analyses.wording.unaided import searching
from shaketable.analyses.wording.vectors import ENCODER
from shaketable.report.old_words import bounds, number
from shaketable.statistics.intervals import Numbers, estimated, known
from shaketable.statistics.stability import spearman_of
from shaketable.types import OldFinding

NAME = "drift_chain"
LINKS = {
    "loss_mss": "query loss and similarity of queries",
    "length_mss": "query length and similarity of queries",
    "mss_collapse": "similarity of queries and collapse of what they find",
    "mss_rfr": "similarity of queries and failed searches",
    "rfr_gap": "failed searches and change in correctness",
}
"""What is correlated, from the wording to the answer."""
NO_LOSS = "query_loss was not scored; add query_loss to score.metrics"
TOO_FEW = "fewer than three wordings, or one side does not vary"
Length = Literal["words", "tokens"]


def drift_chain(
    table: pl.DataFrame,
    *,
    records: pl.DataFrame | None = None,
    searches: pl.DataFrame | None = None,
    correct: str = "contains",
    length: Length = "words",
    encoder: str = ENCODER,
    missing_hops: MissingHops = "skip",
    confidence: float = 0.95,
    n_resamples: int = 2000,
) -> OldFinding:
    """Spearman's rho along the chain, for each variation and for all rewordings together (variation None).

    One point is one wording of a question, averaged over runs. The gap is correctness of the rewording minus that of
    the original. Query loss needs the metric `query_loss`; length in tokens its `query_tokens`.
    """
    rows: list[Row] = []
    if records is not None and searches is not None and len(table):
        trails = trails_of(searches, encoder, missing_hops)
        every = asked_of(
            records,
            correct=scores_of(table, correct),
            query_loss=scores_of(table, "query_loss"),
            query_tokens=scores_of(table, "query_tokens"),
        )
        for asked in searching(every):
            rows += _rows(asked, trails, length, confidence, n_resamples)
        rows = rows or [nothing_row(NAME, "no search was recorded")]
    elif len(table):
        rows = [nothing_row(NAME, NO_RECORDS if records is None else "no search was recorded")]
    _add_sentences(rows)
    return finding_of(
        NAME,
        "Does the drift of queries explain lost answers?",
        rows,
        ("Spearman's rho, ties at average ranks; questions are resampled with all their wordings. It shows no cause.",),
        confidence=confidence,
        n_resamples=n_resamples,
        correct=correct,
        length=length,
        encoder=encoder,
        missing_hops=missing_hops,
    )


def _rows(asked: Asked, trails: Trails, length: Length, confidence: float, n_resamples: int) -> list[Row]:
    points = _points(asked, trails, length)
    variations = [*asked.reworded, *([None] if len(asked.reworded) > 1 else [])]
    rows = []
    for link in LINKS:
        x, y = link.split("_")
        for variation in variations:
            chosen = [
                (question, point[x], point[y])
                for (question, of, _), point in points.items()
                if variation in (None, of) and point[x] is not None and point[y] is not None
            ]
            reason = trails.vectors.reason if "mss" in (x, y) else None
            if x == "loss" and not any(point["loss"] is not None for point in points.values()):
                reason = NO_LOSS
            estimate = _estimate(chosen, confidence, n_resamples)
            rows.append(
                place_row(
                    NAME,
                    asked,
                    metric=link,
                    variation=variation,
                    **known(estimate),
                    n=len({question for question, _, _ in chosen}),
                    n_wordings=len(chosen),
                    unit="score",
                    reason=(reason or TOO_FEW) if math.isnan(estimate[0]) else None,
                    p=None,
                    p_holm=None,
                )
            )
    return rows


def _points(asked: Asked, trails: Trails, length: Length) -> dict[tuple[str, str, str], dict[str, float | None]]:
    """Question, variation and wording → its numbers, averaged over runs."""
    found: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for original, reworded in asked.pairs():
        keys = original["key"], reworded["key"]
        right = original["correct"], reworded["correct"]
        values = {
            "loss": reworded["query_loss"],
            "length": len(reworded["wording"].split()) if length == "words" else reworded["query_tokens"],
            "mss": trails.mss(*keys),
            "collapse": trails.collapse(*keys),
            "rfr": trails.failure_rate(reworded["key"]),
            "gap": None if None in right else right[1] - right[0],
        }
        place = (original["question_id"], reworded["variation"], reworded["wording"])
        of_wording = found.setdefault(place, {name: [] for name in values})
        for name, value in values.items():
            if value is not None:
                of_wording[name].append(value)
    return {
        place: {name: math.fsum(values) / len(values) if values else None for name, values in numbers.items()}
        for place, numbers in found.items()
    }


def _estimate(points: list[tuple[str, float | None, float | None]], confidence: float, n_resamples: int) -> Numbers:
    if len(points) < 3:
        return np.full(3, np.nan)
    questions = sorted({question for question, _, _ in points})
    x, y = (np.array([point[side] for point in points], dtype=np.float64) for side in (1, 2))
    statistic = spearman_of(x, y, [questions.index(question) for question, _, _ in points])
    return estimated(statistic, questions, 1, confidence=confidence, n_resamples=n_resamples).ravel()


def _add_sentences(rows: list[Row]) -> None:
    """One for each system and dataset: the chain on rewrites by people where there are some, else on all."""
    places: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        if row["value"] is not None:
            places.setdefault((row["system"], row["dataset"], row["temperature"]), []).append(row)
    for found in places.values():
        people = [row for row in found if row["variation"] and by_people(row["variation"])]
        overall = [row for row in found if row["variation"] is None]
        chosen = people or overall or found
        links = {row["metric"]: row for row in chosen if row["variation"] == chosen[0]["variation"]}
        first = next(iter(links.values()))
        told = "; ".join(f"{LINKS[name]} {number(row['value'], 'ratio')}{bounds(row)}" for name, row in links.items())
        of = "all rewordings" if first["variation"] is None else told_variation(first["variation"])
        tell(
            first,
            "chain",
            f"Rank correlations of {where(first)}, {of}: {told}.",
            f"On {first['n_wordings']:,} wordings of {first['n']:,} questions.",
        )
