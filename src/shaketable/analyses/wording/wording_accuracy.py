"""What does rewording a question cost in correct answers?"""

from __future__ import annotations

from typing import Any

import polars as pl

from shaketable.analyses.conditions import names_in, units
from shaketable.analyses.grids import chosen_metrics
from shaketable.analyses.wording.rewording import (
    ANSWERED,
    Row,
    asked_of,
    differences,
    finding_of,
    number_rows,
    scores_of,
    tell,
    told_variation,
    where,
)
from shaketable.factors import main_metric
from shaketable.report.old_words import cost, holds_zero, level, measured, questions, sentence_case
from shaketable.types import OldFinding

NAME = "wording_accuracy"


def wording_accuracy(
    table: pl.DataFrame,
    *,
    records: pl.DataFrame | None = None,
    metric: str | None = None,
    metrics: tuple[str, ...] | None = None,
    confidence: float = 0.95,
    n_resamples: int = 2000,
) -> OldFinding:
    """The mean score of each variation, and what it costs against the original wording, paired by question.

    Differences are `original - X`, tested by Wilcoxon's signed ranks with Holm over the variations of a system.
    InAccuracy of the study is `contains(match='token')`. Several rewrites of a question are averaged. `metrics` of
    None are all numbers of which more is better; sentences speak of `metric`, the main one. Where a system leaves
    answers empty, which count as wrong, `…_answered` is the same among the others.
    """
    rows: list[Row] = []
    empty = _empty_answers(records)
    main = main_metric(names_in(table), metric if metrics is None else metrics[0])
    shown = metrics or (*filter(None, [main]), *(name for name in chosen_metrics(table, "all") if name != main))
    unit_of = dict(units(table).iter_rows())
    for name in shown:
        scored = table.filter(pl.col("metric") == name)
        trials = scored.with_columns(answer=pl.col("value").cast(pl.String), wording="variation", n_searches=pl.lit(0))
        for asked in asked_of(trials, score=scores_of(scored, name)):
            numbers = differences(asked, name, lambda row: row["score"], unit_of[name])
            if any(row["key"] in empty for of_question in asked.answers.values() for row in of_question):
                numbers += differences(
                    asked,
                    f"{name}{ANSWERED}",
                    lambda row: None if row["key"] in empty else row["score"],
                    unit_of[name],
                )
            rows += number_rows(NAME, asked, numbers, confidence=confidence, n_resamples=n_resamples)
    _add_sentences(rows, main)
    return finding_of(
        NAME,
        "What does rewording a question cost?",
        rows,
        (
            "Differences are paired by question and run. p values are two-sided, by Wilcoxon's signed ranks, with "
            "Holm over the variations of one system and dataset.",
            "Empty answers count as wrong; …_answered leaves them out, in pairs where either is empty.",
            "Rejected wordings were not asked. Trials without a score are left out and counted as n_missing.",
        ),
        confidence=confidence,
        n_resamples=n_resamples,
        first="most",
        metrics=list(shown),
    )


def _empty_answers(records: pl.DataFrame | None) -> set[str]:
    """The keys of trials whose answer has no word."""
    if records is None:
        return set()
    return set(records.filter(pl.col("answer").str.strip_chars() == "")["key"])


def _add_sentences(rows: list[Row], metric: str | None) -> None:
    """One for each system and dataset: the variation that costs most, and how many others cost something."""
    places: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        if row["metric"] == metric and row["contrast"] and row["value"] is not None:
            places.setdefault((row["system"], row["dataset"], row["temperature"]), []).append(row)
    means: dict[tuple[Any, ...], Row] = {
        (row["system"], row["dataset"], row["temperature"], row["variation"]): row
        for row in rows
        if row["metric"] == metric and not row["contrast"]
    }
    for place, contrasts in places.items():
        worst = max(contrasts, key=lambda row: row["value"])
        original = means[(*place, "original")]
        shown = sum(row["p_holm"] < 0.05 and row["value"] > 0 for row in contrasts)
        if holds_zero(worst):
            sentence = f"No rewording is shown to lower the {measured(worst['metric'])} of {where(worst)}."
            detail = f"The most is {cost(worst)}, by {told_variation(worst['variation'])} ({questions(worst['n'])})."
        else:
            sentence = (
                f"{sentence_case(told_variation(worst['variation']))} costs {where(worst)} {cost(worst)}, the most of "
                f"{len(contrasts)} rewordings."
            )
            detail = (
                f"The original wording has {level(original)}; {shown} of {len(contrasts)} lose after Holm "
                f"({questions(worst['n'])})."
            )
        tell(worst, "wording", sentence, detail)
