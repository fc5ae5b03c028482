"""Does a reworded question get the same answer?"""

from __future__ import annotations

import polars as pl

from shaketable.analyses.wording.rewording import (
    ANSWERED,
    NO_RECORDS,
    Asked,
    Number,
    Row,
    asked_of,
    finding_of,
    nothing_row,
    number_rows,
    tell,
    told_variation,
    where,
)
from shaketable.analyses.wording.vectors import ENCODER, Vectors, vectors_of
from shaketable.report.old_words import level, questions, sentence_case
from shaketable.types import OldFinding

NAME = "consistency"
ALL_EMPTY = "one of the two answers is empty in every pair"
QUESTION = "Does a reworded question get the same answer?"


def consistency(
    table: pl.DataFrame,
    *,
    records: pl.DataFrame | None = None,
    encoder: str = ENCODER,
    confidence: float = 0.95,
    n_resamples: int = 2000,
) -> OldFinding:
    """Similarity of answers to the original's, and diversity of the answers to all wordings of a question.

    `similarity` is the cosine of sentence vectors, 1 for two empty answers; `diversity` is one minus the mean cosine of
    all pairs of wordings; `empty` is the share of empty answers. Where there are some, `similarity_answered` is that of
    the pairs without any, and `both_empty` is the share of pairs that are alike for want of an answer.
    """
    rows: list[Row] = []
    if records is not None and len(table):
        systems = asked_of(records)
        vectors = vectors_of(
            (row["answer"] for one in systems for rows_ in one.answers.values() for row in rows_), encoder
        )
        for asked in systems:
            numbers = _numbers(asked, vectors)
            rows += number_rows(NAME, asked, numbers, confidence=confidence, n_resamples=n_resamples)
    elif len(table):
        rows = [nothing_row(NAME, NO_RECORDS)]
    _add_sentences(rows)
    return finding_of(
        NAME,
        QUESTION,
        rows,
        (
            f"Answers are compared as vectors of {encoder}. Two empty answers have similarity 1, so read similarity "
            "beside the share of empty answers (empty) and of pairs that are both empty (both_empty), and the "
            "similarity of pairs where neither is (similarity_answered).",
            "Diversity is one minus the mean cosine of all pairs of wordings, the original among them; a question "
            "that lacks some wordings counts with those it has (n_incomplete).",
        ),
        confidence=confidence,
        n_resamples=n_resamples,
        first="least",
        encoder=encoder,
    )


def _numbers(asked: Asked, vectors: Vectors) -> list[Number]:
    alike = asked.paired(lambda original, reworded: vectors.similarity(original["answer"], reworded["answer"]))
    empty = asked.means(lambda row: float(_is_empty(row)))
    answered = asked.paired(
        lambda original, reworded: (
            None
            if _is_empty(original) or _is_empty(reworded)
            else vectors.similarity(original["answer"], reworded["answer"])
        )
    )
    both = asked.paired(lambda original, reworded: float(_is_empty(original) and _is_empty(reworded)))
    numbers = [
        Number(metric="similarity", variation=variation, values=alike.get(variation, {}), reason=vectors.reason)
        for variation in asked.reworded
    ]
    if not numbers:
        return []
    for words, with_people in asked.kinds_of_sets():
        sizes = {question: len(run) for question, run in asked.sets(with_people=with_people)}
        numbers.append(
            Number(
                metric="diversity",
                variation=None,
                values=asked.over_sets(
                    lambda run: vectors.diversity(row["answer"] for row in run), with_people=with_people
                ),
                reason=vectors.reason,
                more={"wordings": words, "n_incomplete": sum(n < max(sizes.values()) for n in sizes.values())},
            )
        )
    if any(share for of_variation in empty.values() for share in of_variation.values()):
        for variation in asked.reworded:
            reason = vectors.reason or ALL_EMPTY
            values = answered.get(variation, {})
            numbers.append(Number(metric=f"similarity{ANSWERED}", variation=variation, values=values, reason=reason))
            values = both.get(variation, {})
            numbers.append(Number(metric="both_empty", variation=variation, values=values, unit="share"))
    return numbers + [
        Number(metric="empty", variation=variation, values=empty.get(variation, {}), unit="share")
        for variation in asked.variations
    ]


def _is_empty(row: Row) -> bool:
    return not row["answer"].strip()


def _add_sentences(rows: list[Row]) -> None:
    """One for each system and dataset: the rewording that moves its answers most."""
    places: dict[tuple[object, ...], list[Row]] = {}
    answered = {
        (row["system"], row["dataset"], row["temperature"], row["variation"]): row
        for row in rows
        if row["metric"] == f"similarity{ANSWERED}"
    }
    for row in rows:
        if row["metric"] == "similarity" and row["value"] is not None:
            places.setdefault((row["system"], row["dataset"], row["temperature"]), []).append(row)
    for alike in places.values():
        least, most = (pick(alike, key=lambda row: row["value"]) for pick in (min, max))
        sentence = (
            f"{sentence_case(told_variation(least['variation']))} moves the answers of {where(least)} most: similarity "
            f"{level(least)} to the answer to the original wording."
        )
        detail = (
            f"{sentence_case(told_variation(most['variation']))} moves them least, {level(most)}"
            if most is not least
            else "Measured"
        )
        detail += f" ({questions(least['n'])})."
        alone = answered.get((least["system"], least["dataset"], least["temperature"], least["variation"]))
        if alone:
            known = alone["reason"] if alone["value"] is None else f"{level(alone)} ({questions(alone['n'])})"
            detail += f" Of pairs where neither answer is empty: {known}."
        tell(least, "consistency", sentence, detail)
