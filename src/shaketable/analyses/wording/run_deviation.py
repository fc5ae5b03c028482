"""How far do the runs of one and the same question set lie apart?"""

from __future__ import annotations

import math
import statistics
from typing import Literal

import polars as pl

from shaketable.analyses.conditions import units
from shaketable.analyses.grids import chosen_metrics
from shaketable.analyses.wording.rewording import (
    Asked,
    Row,
    asked_of,
    place_row,
    scores_of,
    tell,
    told_variation,
    where,
)
from shaketable.report.old_words import measured, number, said
from shaketable.types import OldFinding

NAME = "run_deviation"
NO_SCORE = "no question has a score in every run"
ONE_RUN = "there is one run; a deviation needs two, so raise cross.repeats"


def run_deviation(table: pl.DataFrame, *, metric: str | None = None, ddof: Literal[0, 1] = 1) -> OldFinding:
    """Mean and standard deviation, over runs, of a run's mean score: one for each system, dataset and variation.

    A run is a repeat. Its score is the mean over the questions that have one in every run, several rewrites of a
    question averaged first, so that nothing but the runs differs. `value` is the deviation, with the divisor runs minus
    `ddof`; `mean` and `by_run` are the scores behind it.
    """
    if ddof not in (0, 1):
        raise ValueError(f"ddof is {ddof}; give 1 for the deviation of a sample, or 0.")
    rows: list[Row] = []
    unit_of = dict(units(table).iter_rows())
    for name in chosen_metrics(table, metric):
        scored = table.filter(pl.col("metric") == name)
        trials = scored.with_columns(answer=pl.col("value").cast(pl.String), wording="variation", n_searches=pl.lit(0))
        for asked in asked_of(trials, score=scores_of(scored, name)):
            for variation in asked.variations:
                numbers = _numbers(_by_run(asked, variation), ddof)
                place = place_row(
                    NAME, asked, variation=variation, metric=name, unit=unit_of[name], low=None, high=None
                )
                rows.append(place | numbers)
    _add_sentences(rows)
    return OldFinding(
        analysis=NAME,
        question="How far do runs of the same questions lie apart?",
        rows=tuple(rows),
        sentences=tuple(said(row) for row in rows if row["sentence"]),
        caveats=(
            "A run is a repeat of every question. Questions without a score in one of the runs are in none of them. "
            "The deviation is that of whole runs; how far questions differ is told by the intervals elsewhere.",
        )
        if rows
        else (),
        settings={"metric": metric, "ddof": ddof},
    )


def _by_run(asked: Asked, variation: str) -> list[dict[str, float]]:
    """For each run, the mean score of each question that has the same number of scores in all of them."""
    scores: dict[str, dict[int, list[float]]] = {}
    for question, rows in asked.answers.items():
        for row in rows:
            if row["variation"] == variation:
                scores.setdefault(question, {}).setdefault(row["repeat"], []).append(row["score"])
    runs = sorted({run for of_question in scores.values() for run in of_question})
    whole = {
        question: of_question
        for question, of_question in scores.items()
        if len(of_question) == len(runs) and len({len(own) for own in of_question.values()}) == 1
    }
    return [
        {question: math.fsum(of_question[run]) / len(of_question[run]) for question, of_question in whole.items()}
        for run in runs
    ]


def _numbers(by_run: list[dict[str, float]], ddof: int) -> Row:
    n = len(by_run[0]) if by_run else 0
    means = [math.fsum(run.values()) / n for run in by_run] if n else []
    deviation = None
    if len(means) > 1:
        deviation = statistics.stdev(means) if ddof else statistics.pstdev(means)
    return {
        "value": deviation,
        "mean": math.fsum(means) / len(means) if means else None,
        "by_run": means,
        "n": n,
        "n_runs": len(by_run),
        "reason": None if deviation is not None else ONE_RUN if means else NO_SCORE,
    }


def _add_sentences(rows: list[Row]) -> None:
    """One for each system and dataset: the wording whose runs lie furthest apart."""
    places: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        if row["value"] is not None:
            place = row["metric"], row["system"], row["dataset"], row["perturbation"], row["temperature"]
            places.setdefault(place, []).append(row)
    for own in places.values():
        most = max(own, key=lambda row: row["value"])
        points = " points" if most["unit"] == "share" else ""
        among = f", the most of {len(own)} wordings" if len(own) > 1 else ""
        tell(
            most,
            "deviation",
            f"Runs of {where(most)} lie {number(most['value'], most['unit'])}{points} of {measured(most['metric'])} "
            f"apart (standard deviation) with {_wording(most)}{among}.",
            f"{most['n_runs']} runs of {most['n']} question{'s' * (most['n'] != 1)} each.",
        )


def _wording(row: Row) -> str:
    return "the original wording" if row["variation"] == "original" else told_variation(row["variation"])
