"""Did searching help, harm, or change nothing, for each way of asking?"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from shaketable.analyses.wording.rewording import (
    NO_RECORDS,
    ORIGINAL,
    Asked,
    Number,
    Row,
    asked_of,
    finding_of,
    nothing_row,
    number_rows,
    scores_of,
    tell,
    where,
)
from shaketable.analyses.wording.unaided import Unaided, Wording, searching, told_choice, unaided_of
from shaketable.report.old_words import level, questions
from shaketable.types import OldFinding

NAME = "outcomes"
CLASSES: dict[str, Callable[[float, float], float]] = {
    "helpful": lambda unaided, correct: (1 - unaided) * correct,
    "harmful": lambda unaided, correct: unaided * (1 - correct),
    "stable": lambda unaided, correct: unaided * correct,
    "unhelpful": lambda unaided, correct: (1 - unaided) * (1 - correct),
}
"""Wrong to right, right to wrong, right and right, wrong and wrong: closed book first."""


def outcomes(
    table: pl.DataFrame,
    *,
    records: pl.DataFrame | None = None,
    correct: str = "contains",
    closed_book: str = "closed_book",
    need: Wording = "same",
    confidence: float = 0.95,
    n_resamples: int = 2000,
) -> OldFinding:
    """Shares of answers that a search mended (`helpful`), spoiled (`harmful`), left right (`stable`) or left wrong
    (`unhelpful`), against the closed-book answer to the same wording. They sum to 1.

    Where there are several runs, each is compared with each closed-book run.
    """
    rows: list[Row] = []
    compared: list[tuple[Asked, Unaided]] = []
    if records is not None and len(table):
        every = asked_of(records, correct=scores_of(table, correct))
        compared = [(asked, unaided_of(every, asked, closed_book, need)) for asked in searching(every)]
        for asked, unaided in compared:
            numbers = _numbers(asked, unaided)
            rows += number_rows(NAME, asked, numbers, confidence=confidence, n_resamples=n_resamples)
        rows = rows or [nothing_row(NAME, "no system of this run searches")]
    elif len(table):
        rows = [nothing_row(NAME, NO_RECORDS)]
    _add_sentences(rows)
    return finding_of(
        NAME,
        "When does searching help, and when does it harm?",
        rows,
        (f"Compared with {closed_book} of the same model, on the {need} wording.", *told_choice(compared)),
        confidence=confidence,
        n_resamples=n_resamples,
        first="most",
        correct=correct,
        closed_book=closed_book,
        need=need,
    )


def _numbers(asked: Asked, unaided: Unaided) -> list[Number]:
    numbers = []
    for name, share in CLASSES.items():
        found = asked.means(lambda row, share=share: _share(row, unaided.of(row), share))  # type: ignore[misc]
        numbers += [
            Number(
                metric=name, variation=variation, values=found.get(variation, {}), unit="share", reason=unaided.reason
            )
            for variation in asked.variations
        ]
    return numbers


def _share(row: Row, unaided: float | None, share: Callable[[float, float], float]) -> float | None:
    return None if unaided is None or row["correct"] is None else share(unaided, row["correct"])


def _add_sentences(rows: list[Row]) -> None:
    """One for each system and dataset, of the original wording."""
    found = {
        (row["system"], row["dataset"], row["temperature"], row["metric"]): row
        for row in rows
        if row["variation"] == ORIGINAL and row["value"] is not None
    }
    for (*place, metric), helped in found.items():
        if metric == "helpful" and (harmed := found.get((*place, "harmful"))):
            sentence = (
                f"With the original wording, searching mends {level(helped)} of the answers of {where(helped)} "
                f"and spoils {level(harmed)}."
            )
            tell(helped, "outcome", sentence, f"Against its closed-book answers ({questions(helped['n'])}).")
