"""Does rewording change what an answer costs: searches, model calls, tokens?"""

from __future__ import annotations

import polars as pl

from shaketable.analyses.wording.rewording import (
    NO_RECORDS,
    Asked,
    Number,
    Row,
    asked_of,
    differences,
    finding_of,
    nothing_row,
    number_rows,
    tell,
    told_variation,
    where,
)
from shaketable.report.old_words import level, number, questions, sentence_case
from shaketable.statistics.stability import Steadiness, Zero, relative_change, steadiness
from shaketable.types import OldFinding

NAME = "cost_stability"
QUESTION = "Does rewording change what an answer costs?"
COUNTS = {"searches": "n_searches", "calls": "n_calls", "tokens": "n_tokens"}
ZERO_WORDS = {
    "one": "RE divides by the calls of the original wording, and by 1 where it made none.",
    "zero": "RE divides by the calls of the original wording, and is 0 where it made none.",
    "drop": "RE leaves out questions whose original wording made no call.",
}
NOT_COUNTED = "no {what} were counted in these records"


def cost_stability(
    table: pl.DataFrame,
    *,
    records: pl.DataFrame | None = None,
    calls: pl.DataFrame | None = None,
    zero: Zero = "one",
    steady: Steadiness = "inverse",
    confidence: float = 0.95,
    n_resamples: int = 2000,
) -> OldFinding:
    """Relative change (RE) and steadiness (CVR) of searches and model calls, and the mean of each, and of tokens.

    `re_searches` is |c - o| / max(o, 1) for the count o of the original and c of the rewording. `cvr_searches` is
    1 / (1 + CV) over all wordings of a question, 1 where all cost the same. `calls` has the model calls by key
    without those beside the method's own; without it all generations count. Tokens are all that was generated.
    """
    rows: list[Row] = []
    if records is not None and len(table):
        counted = _with_calls(records, calls)
        for asked in asked_of(counted):
            numbers = _numbers(asked, zero, steady)
            rows += number_rows(NAME, asked, numbers, confidence=confidence, n_resamples=n_resamples)
    elif len(table):
        rows = [nothing_row(NAME, NO_RECORDS)]
    _add_sentences(rows)
    return finding_of(
        NAME,
        QUESTION,
        rows,
        (
            ZERO_WORDS[zero],
            "Model calls are the method's own: completing an answer and reading documents for it are not counted.",
        ),
        confidence=confidence,
        n_resamples=n_resamples,
        first="most",
        zero=zero,
        steady=steady,
    )


def _with_calls(records: pl.DataFrame, calls: pl.DataFrame | None) -> pl.DataFrame:
    if calls is None:
        return records.with_columns(n_calls="n_generations")
    return records.join(calls.select("key", "n_calls"), on="key", how="left")


def _numbers(asked: Asked, zero: Zero, steady: Steadiness) -> list[Number]:
    numbers: list[Number] = []
    for what, column in COUNTS.items():
        if what == "searches" and not asked.searches:
            continue
        if what != "searches" and not any(row[column] for rows in asked.answers.values() for row in rows):
            reason = NOT_COUNTED.format(what=what)
            numbers.append(Number(metric=f"n_{what}", variation=None, values={}, unit="count", reason=reason))
            continue
        numbers += differences(asked, f"n_{what}", lambda row, column=column: float(row[column]), "count")  # type: ignore[misc]
        if what != "tokens":
            numbers += _stability(asked, what, column, zero, steady)
    return numbers


def _stability(asked: Asked, what: str, column: str, zero: Zero, steady: Steadiness) -> list[Number]:
    changes = asked.paired(lambda original, reworded: relative_change(original[column], reworded[column], zero))
    numbers = [
        Number(metric=f"re_{what}", variation=variation, values=changes.get(variation, {}))
        for variation in asked.reworded
    ]
    if not numbers:
        return []
    return numbers + [
        Number(
            metric=f"cvr_{what}",
            variation=None,
            values=asked.over_sets(
                lambda run: steadiness([row[column] for row in run], steady), with_people=with_people
            ),
            more={"wordings": words},
        )
        for words, with_people in asked.kinds_of_sets()
    ]


def _add_sentences(rows: list[Row]) -> None:
    """One for each system and dataset that searches: the rewording that changes its searches most."""
    places: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        if row["metric"] in ("re_searches", "cvr_searches") and row["value"] is not None:
            places.setdefault((row["system"], row["dataset"], row["temperature"]), []).append(row)
    for found in places.values():
        changes = [row for row in found if row["metric"] == "re_searches"]
        steady = next((row for row in found if row["metric"] == "cvr_searches"), None)
        if not changes:
            continue
        most = max(changes, key=lambda row: row["value"])
        sentence = (
            f"{sentence_case(told_variation(most['variation']))} changes how often {where(most)} searches by "
            f"{number(most['value'], 'share')} % of the original's searches on average, the most of {len(changes)} "
            "rewordings."
            if most["value"]
            else f"No rewording changes how often {where(most)} searches."
        )
        detail = f"Steadiness over all wordings is {level(steady)} of 1" if steady else "Paired by question"
        tell(most, "cost", sentence, f"{detail} ({questions(most['n'])}).")
