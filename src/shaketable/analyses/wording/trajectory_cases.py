"""Where did the searches of a reworded question go astray, hop by hop?"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import polars as pl

from shaketable.analyses.wording.hops import Trails, trails_of
from shaketable.analyses.wording.rewording import (
    NO_RECORDS,
    POOLED,
    Asked,
    Row,
    asked_of,
    nothing_row,
    place_row,
    scores_of,
    tell,
    told_variation,
    where,
)
from shaketable.analyses.wording.unaided import searching
from shaketable.analyses.wording.vectors import ENCODER
from shaketable.report.old_words import said
from shaketable.types import OldFinding

NAME = "trajectory_cases"
Pair = tuple[Row, Row]
"""The trial of the original wording, and that of another in the same run."""
NO_PAIR = "no two wordings of a question were both searched for"
NOT_BOTH = "only one of the two trials made this search"
RULE = (
    "Of each system and dataset the pair of trials of one run is shown whose answer was right with the original "
    "wording and wrong with another, where there is one; among these the one that lost most hits on supporting "
    "documents, then the one with the least similar queries, then the first by id. They show how searches fail, not "
    "how often."
)


def trajectory_cases(
    table: pl.DataFrame,
    *,
    records: pl.DataFrame | None = None,
    searches: pl.DataFrame | None = None,
    correct: str = "contains",
    encoder: str = ENCODER,
    n: int = 1,
) -> OldFinding:
    """The searches of an original and of a reworded question side by side: a row for each hop.

    `value` is the similarity of the two queries, `hit_…` whether a supporting document was found. Both answers stand in
    every row of a case. The caveat gives the rule by which the `n` cases of each system and dataset are picked, each of
    another question.
    """
    rows: list[Row] = []
    if records is not None and searches is not None and len(table):
        searched = frozenset(searches["key"])
        every = searching(asked_of(records, correct=scores_of(table, correct)))
        pools = [(asked, _pool(asked, searched, n)) for asked in every if asked.place["dataset"] != POOLED]
        keys = {row["key"] for _, pool in pools for pair in pool for row in pair}
        trails = trails_of(searches.filter(pl.col("key").is_in(keys)), encoder, "skip")
        for asked, pool in pools:
            for original, reworded in _picked(pool, trails, n):
                rows += _case(asked, trails, original, reworded)
        rows = rows or [nothing_row(NAME, NO_PAIR)]
    elif len(table):
        rows = [nothing_row(NAME, NO_RECORDS)]
    return OldFinding(
        analysis=NAME,
        question="Where did the searches of a reworded question go astray?",
        rows=tuple(rows),
        sentences=tuple(said(row) for row in rows if row["sentence"]),
        caveats=(RULE, f"Queries are compared as vectors of {encoder}.") if any(row["metric"] for row in rows) else (),
        settings={"correct": correct, "encoder": encoder, "n": n},
    )


def _pool(asked: Asked, searched: Collection[str], n: int) -> list[Pair]:
    """The pairs to pick from: those that lost the answer where there are enough, so that few queries are compared."""
    both = [pair for pair in asked.pairs() if all(row["key"] in searched for row in pair)]
    lost = [pair for pair in both if _is_lost(*pair)]
    return lost if len({original["question_id"] for original, _ in lost}) >= n else both


def _picked(pool: list[Pair], trails: Trails, n: int) -> Iterator[Pair]:
    """The first n by the rule, each of another question."""

    def rank(pair: Pair) -> tuple[object, ...]:
        original, reworded = pair
        mss = trails.mss(original["key"], reworded["key"])
        kept = [sum(bool(hop.is_hit) for hop in trails.of(row["key"])) for row in pair]
        names = ("question_id", "variation", "wording", "repeat", "key")
        return (
            not _is_lost(*pair),
            kept[1] - kept[0],
            1.0 if mss is None else mss,
            *(reworded[name] for name in names),
        )

    seen: set[str] = set()
    for original, reworded in sorted(pool, key=rank):
        if original["question_id"] not in seen and len(seen) < n:
            seen.add(original["question_id"])
            yield original, reworded


def _is_lost(original: Row, reworded: Row) -> bool:
    return bool(original["correct"] == 1 and reworded["correct"] == 0)


def _case(asked: Asked, trails: Trails, original: Row, reworded: Row) -> list[Row]:
    both: Row = {"question_id": original["question_id"], "repeat": original["repeat"]}
    for name in ("wording", "answer", "correct", "key"):
        both |= {f"{name}_original": original[name], f"{name}_reworded": reworded[name]}
    both["mss"] = trails.mss(original["key"], reworded["key"])
    rows = []
    for pair in trails.side_by_side(original["key"], reworded["key"]):
        reason = trails.vectors.reason if pair.original and pair.reworded else NOT_BOTH
        rows.append(
            place_row(NAME, asked, variation=reworded["variation"], metric="similarity", low=None, high=None)
            | {"value": pair.similarity, "n": 1, "unit": "score", "reason": reason, "hop": pair.hop}
            | {f"query_{side}": hop and hop.query for side, hop in pair.sides}
            | {f"hit_{side}": hop and hop.is_hit for side, hop in pair.sides}
            | both
        )
    _tell(rows)
    return rows


def _tell(rows: list[Row]) -> None:
    first = rows[0]
    kept = [sum(bool(row[f"hit_{side}"]) for row in rows) for side in ("original", "reworded")]
    made = [sum(row[f"query_{side}"] is not None for row in rows) for side in ("original", "reworded")]
    marks = {1.0: "right", 0.0: "wrong"}
    before, after = (marks.get(first[f"correct_{side}"], "unknown") for side in ("original", "reworded"))
    turned = f"its answer goes from {before} to {after}" if before != after else f"both answers are {before}"
    drift = "" if first["mss"] is None else f" Their queries have a mean similarity of {first['mss']:.2f}."
    tell(
        first,
        "trajectory",
        f"Question {first['question_id']} after {told_variation(first['variation'])}, {where(first)}: {turned}.",
        f"{kept[0]} of {made[0]} searches of the original wording found a supporting document, {kept[1]} of {made[1]} "
        f"of the other.{drift}",
    )
