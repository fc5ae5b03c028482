"""How far do the runs of one and the same question set lie apart?"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, replace
from typing import Literal

from shaketable.analyses.conditions import units_of
from shaketable.analyses.grids import chosen_metrics
from shaketable.analyses.rows import Measured
from shaketable.analyses.tables import Tables
from shaketable.analyses.wording.answers import group_scores, read_scores
from shaketable.analyses.wording.asked import Asked
from shaketable.analyses.wording.numbers import count_failed
from shaketable.types import Unit

NO_SCORE = "no question has a score in every run"
ONE_RUN = "there is one run; a deviation needs two, so raise cross.repeats"


@dataclass(frozen=True, kw_only=True, slots=True)
class Deviation(Measured):
    """The runs of one system, dataset and variation. Its dataset is None where all datasets are taken together."""

    unit: Unit
    value: float | None
    """The standard deviation of the runs' means."""
    reason: str | None
    """Why there is none."""
    mean: float | None
    by_run: tuple[float, ...]
    """The mean score of each run, in their order."""
    n: int
    """Questions that have a score in every run."""
    n_runs: int
    n_failed: int
    """Trials without a score."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunDeviation:
    """How far do runs of the same questions lie apart?"""

    ddof: Literal[0, 1]
    deviations: tuple[Deviation, ...]


def run_deviation(tables: Tables, *, metric: str | None = None, ddof: Literal[0, 1] = 1) -> RunDeviation:
    """Mean and standard deviation, over runs, of a run's mean score: one for each system, dataset and variation.

    A run is a repeat. Its score is the mean over the questions that have one in every run, several rewrites of a
    question averaged first, so that nothing but the runs differs. `value` is the deviation, with the divisor runs minus
    `ddof`; `mean` and `by_run` are the scores behind it. `metric` of `all`: every number of which more is better.
    """
    if ddof not in (0, 1):
        raise ValueError(f"ddof is {ddof}; give 1 for the deviation of a sample, or 0.")
    chosen = chosen_metrics(tables.score_reader, metric or tables.chosen_metric)
    unit_of = units_of(map(tables.of_metric, chosen))
    deviations = [
        _deviation(asked, variation, name, unit_of[name], _by_run(asked, variation, scores), ddof)
        for name in chosen
        for scores in [read_scores(tables, name)]
        for asked in group_scores(tables, name)
        for variation in asked.variations
    ]
    return RunDeviation(ddof=ddof, deviations=tuple(deviations))


def _by_run(asked: Asked, variation: str, by_key: dict[str, float | None]) -> list[dict[str, float]]:
    """For each run, the mean score of each question that has the same number of scores in all of them."""
    scores: dict[str, dict[int, list[float]]] = {}
    replies = [reply for reply in asked.every_reply() if reply.variation == variation]
    n_shared = min((reply.n_runs for reply in replies), default=0)  # One dataset may have been repeated more often.
    for reply in replies:
        score = by_key[reply.key]
        if reply.repeat < n_shared and score is not None:
            scores.setdefault(reply.question_id, {}).setdefault(reply.repeat, []).append(score)
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


def _deviation(
    asked: Asked, variation: str, metric: str, unit: Unit, by_run: list[dict[str, float]], ddof: int
) -> Deviation:
    n = len(by_run[0]) if by_run else 0
    means = [math.fsum(run.values()) / n for run in by_run] if n else []
    value = None
    if len(means) > 1:
        value = statistics.stdev(means) if ddof else statistics.pstdev(means)
    return Deviation(
        cell=replace(asked.cell, variation=variation),
        metric=metric,
        unit=unit,
        value=value,
        reason=None if value is not None else ONE_RUN if means else NO_SCORE,
        mean=math.fsum(means) / len(means) if means else None,
        by_run=tuple(means),
        n=n,
        n_runs=len(by_run),
        n_failed=count_failed(asked, variation),
    )
