"""How certain is a model of the answers it samples, and is it right when it is certain?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from shaketable.analyses.facts.facts import PLACE, Facts, Row, facts_of, judges, settled
from shaketable.facts.score import TOLERANCE
from shaketable.report.old_words import bounds, number, questions, said
from shaketable.statistics.intervals import Numbers, estimated, mean_estimates, mean_of
from shaketable.statistics.intervals import known as estimate_columns
from shaketable.types import OldFinding, Scan

NAME = "certainty_bins"
N_BINS = 10


def certainty_bins(
    table: pl.DataFrame,
    *,
    scan: Scan | None = None,
    known: str | None = None,
    correct: str | None = None,
    confidence: float = 0.95,
    n_resamples: int = 2000,
) -> OldFinding:
    """The share of answers in each tenth of certainty, correct and wrong ones apart, at each temperature.

    Certainty is the metric of this name, the mean probability of an answer's tokens. Bins are [0, 0.1) … [0.9, 1].
    Rows of kind `bin` add up to 1 at each temperature; rows of kind `certainty` are its mean. `known` of '' takes all
    questions, not the known facts alone.
    """
    scan = settled(scan, known=known, correct=correct)
    every = facts_of(table, (), scan)
    answers = _answers(table, judges(scan)[1])
    rows = [row for facts in every for row in _rows(facts, answers, not scan.known, confidence, n_resamples)]
    _add_sentences(rows)
    return OldFinding(
        analysis=NAME,
        question="How certain is the model of what it says, and is it right when it is certain?",
        rows=tuple(rows),
        sentences=tuple(said(row) for row in rows if row["sentence"]),
        caveats=_caveats(rows, confidence, n_resamples),
        settings={"known": scan.known, "correct": scan.correct, "confidence": confidence, "n_resamples": n_resamples},
    )


def bin_of(certainty: float) -> int:
    """0.8 computed as 0.79999… belongs to [0.8, 0.9)."""
    return min(int((certainty + TOLERANCE) * N_BINS), N_BINS - 1)


def _answers(table: pl.DataFrame, correct: str) -> pl.DataFrame:
    """One row per answer that has both numbers: place, question, temperature, certainty, is_correct."""
    certainty = table.filter((pl.col("metric") == "certainty") & pl.col("value").is_not_null())
    judged = table.filter((pl.col("metric") == correct) & pl.col("value").is_not_null())
    return (
        certainty.rename({"value": "certainty"})
        .join(judged.select("key", is_correct=pl.col("value") == 1), on="key")
        .select(*PLACE, "question_id", "temperature", "repeat", "certainty", "is_correct")
        .sort(*PLACE, "temperature", "question_id", "repeat")
    )


def _rows(facts: Facts, answers: pl.DataFrame, takes_all: bool, confidence: float, n_resamples: int) -> list[Row]:
    chosen = [fact.question_id for fact in (facts.asked if takes_all else facts.known)]
    here = answers.filter(
        *(pl.col(name).eq_missing(pl.lit(facts.place[name], dtype=pl.String)) for name in PLACE),
        pl.col("question_id").is_in(chosen),
    )
    rows = []
    for (temperature,), at in here.group_by("temperature", maintain_order=True):
        columns = {id: i for i, id in enumerate(sorted(at["question_id"].unique()))}
        counts = np.zeros((2 * N_BINS + 1, len(columns)))
        for question_id, certainty, is_correct in at.select("question_id", "certainty", "is_correct").iter_rows():
            counts[bin_of(certainty) + N_BINS * is_correct, columns[question_id]] += 1
            counts[-1, columns[question_id]] += certainty
        values = counts / counts[:-1].sum(axis=0)
        estimates, _ = mean_estimates(values, list(columns), confidence=confidence, n_resamples=n_resamples)
        wrong = _sure_and_wrong(values, list(columns), confidence, n_resamples)
        rows += [
            facts.row(
                NAME,
                metric="certainty",
                unit=unit,
                temperature=temperature,
                kind=kind,
                bin=None if place is None else place % N_BINS / N_BINS,
                is_correct=None if place is None else place >= N_BINS,
                **estimate_columns(estimate),
                n=len(columns),
                n_answers=len(at),
            )
            for kind, unit, place, estimate in (
                *(("bin", "share", i, estimate) for i, estimate in enumerate(estimates[:-1])),
                ("certainty", "score", None, estimates[-1]),
                ("sure_and_wrong", "share", None, wrong),
            )
        ]
    return rows


def _sure_and_wrong(values: Numbers, ids: list[str], confidence: float, n_resamples: int) -> Numbers:
    """Of the answers in the highest bin, the share that is wrong; NaN where it is empty."""
    top = mean_of(values[[N_BINS - 1, 2 * N_BINS - 1]])

    def wrong_share(drawn: Numbers) -> Numbers:
        wrong, right = top(drawn)
        total = wrong + right
        found: Numbers = np.divide(wrong, total, out=np.full_like(total, np.nan), where=total > 0)
        return found[None]

    (estimate,) = estimated(wrong_share, ids, 1, confidence=confidence, n_resamples=n_resamples)
    return np.asarray(estimate)


def _add_sentences(rows: Sequence[Row]) -> None:
    """One for each system and dataset: how often the hottest answers are certain and wrong."""
    last: dict[tuple[str, str | None], Row] = {}
    for row in rows:
        row.update(headline=None, sentence=None, detail=None)
        if row["kind"] == "sure_and_wrong" and row["value"] is not None and row["temperature"] > 0:
            last[row["system"], row["dataset"]] = row
    for (system, dataset), row in last.items():
        row.update(
            headline="facts",
            sentence=f"Of the answers that {system} gives at temperature {row['temperature']:g} with a certainty of "
            f"0.9 or more, {number(row['value'], 'share')} %{bounds(row)} are wrong.",
            detail=f"Dataset {dataset}, {row['n_answers']:,} answers in all ({questions(row['n'])}).",
        )


def _caveats(rows: Sequence[Row], confidence: float, n_resamples: int) -> tuple[str, ...]:
    if not rows:
        return ()
    return (
        f"Intervals hold {100 * confidence:g} % of {n_resamples:,} bootstrap resamples of the questions; every "
        "question weighs the same, however many answers it has.",
        "At temperature 0 the distribution that is sampled has one token, so every answer is certain there.",
    )
