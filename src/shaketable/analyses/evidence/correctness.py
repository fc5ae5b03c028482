"""How good are the answers in each condition, and what do disturbed evidence and heat cost?"""

from __future__ import annotations

import numpy as np
import polars as pl

from shaketable.analyses.conditions import (
    CONDITION,
    FACTORS,
    ORIGINAL,
    by_question,
    labelled_rows,
    names_in,
    pooled_and_by_type,
    units,
)
from shaketable.analyses.evidence import correctness_words as words
from shaketable.analyses.evidence.flagged import done_as_asked, flagged_in
from shaketable.factors import main_metric
from shaketable.statistics.intervals import Statistic, mean_of, with_estimates
from shaketable.types import OldFinding


def correctness(
    table: pl.DataFrame,
    *,
    metric: str | None = None,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    ddof: int = 1,
) -> OldFinding:
    """Means over runs, then over questions, with bootstrap intervals over questions.

    Rows without `contrast` are condition means. Rows with one are differences paired by question: `unchanged - X`
    is what perturbation X costs (`X, as asked`: without questions whose evidence carries a flag, where some do),
    `temperature A - B` what heating from A to B costs; positive means worse at X or B.
    """
    questions = by_question(table, ddof=ddof)
    conditions = questions.with_columns(contrast=pl.lit(None, dtype=pl.String))
    compared = pl.concat(
        [conditions, _evidence_drops(questions, flagged_in(table)), _heat_drops(questions)], how="diagonal"
    )
    shares = units(table).filter(unit="share")["metric"].to_list()
    cells = with_estimates(
        _conditions(compared, ddof),
        _mean,
        confidence=confidence,
        n_resamples=n_resamples,
        is_share=pl.col("metric").is_in(shares) & pl.col("contrast").is_null(),
    )
    rows = labelled_rows("correctness", cells, table)
    main = main_metric(names_in(table), metric)
    words.add_sentences(rows, main)
    return OldFinding(
        analysis="correctness",
        question="How good are the answers, and what do disturbed evidence and heat cost?",
        rows=tuple(rows),
        sentences=tuple(f"{row['sentence']} {row['detail']}" for row in words.by_importance(rows)),
        caveats=words.caveats(rows, confidence, n_resamples),
        settings={"main_metric": main, "confidence": confidence, "n_resamples": n_resamples, "ddof": ddof},
    )


def _evidence_drops(questions: pl.DataFrame, flagged: pl.DataFrame) -> pl.DataFrame:
    """Unchanged minus disturbed evidence, by question, at each temperature; of flagged perturbations also as asked."""
    disturbed = questions.filter(pl.col("perturbation") != ORIGINAL)
    disturbed = pl.concat([disturbed, done_as_asked(disturbed, flagged)])
    original = questions.filter(pl.col("perturbation") == ORIGINAL)
    contrast = pl.concat_str(pl.lit(f"{ORIGINAL} - "), "perturbation")
    return _paired(original, disturbed, but="perturbation").with_columns(contrast=contrast)


def _heat_drops(questions: pl.DataFrame) -> pl.DataFrame:
    """Coolest minus hottest temperature, by question, for each evidence."""
    temperatures = sorted(questions["temperature"].unique())
    if len(temperatures) < 2:
        return questions.clear()
    coolest, hottest = temperatures[0], temperatures[-1]
    return _paired(
        questions.filter(temperature=coolest), questions.filter(temperature=hottest), but="temperature"
    ).with_columns(contrast=pl.lit(f"temperature {coolest:g} - {hottest:g}"))


def _paired(first: pl.DataFrame, second: pl.DataFrame, *, but: str) -> pl.DataFrame:
    """First minus second for questions that have both, in conditions that are the same but for one factor."""
    same = ["metric", "question_id", "type", *(factor for factor in FACTORS if factor != but)]
    return second.join(first, on=same, nulls_equal=True, suffix="_first").select(
        *CONDITION,
        "question_id",
        "type",
        mean=pl.col("mean_first") - pl.col("mean"),
        n_missing=pl.col("n_missing_first") + pl.col("n_missing"),
    )


def _conditions(questions: pl.DataFrame, ddof: int) -> pl.DataFrame:
    has_value = pl.col("mean").is_not_null()
    return (
        pooled_and_by_type(questions)
        .group_by(*CONDITION, "type", "contrast", maintain_order=True)
        .agg(
            means=pl.col("mean").filter(has_value),
            question_ids=pl.col("question_id").filter(has_value),
            sd_runs=pl.col("sd").mean(),
            sd_questions=pl.col("mean").std(ddof=ddof),
            n=pl.col("mean").count().cast(pl.Int64),
            n_missing=pl.col("n_missing").sum(),
        )
    )


def _mean(cells: pl.DataFrame) -> Statistic:
    return mean_of(np.array(cells["means"].to_list()))
