"""Which matters more: temperature or evidence?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from shaketable.analyses.grids import Grid, Number, Row, even, grids
from shaketable.report.old_words import bounds, measured, number, questions, said
from shaketable.statistics.intervals import ROUNDING, Numbers, Statistic, complete, estimated, known, mean_of
from shaketable.types import OldFinding

NAME = "dominance"
OUTCOMES: tuple[Number, ...] = ("mean", "cv")
EFFECTS = ("temperature", "evidence", "interaction", "difference")


def dominance(
    table: pl.DataFrame, *, metric: str | None = None, confidence: float = 0.95, n_resamples: int = 2000
) -> OldFinding:
    """Partial eta squared of a two-way repeated-measures decomposition, with bootstrap intervals over questions.

    Rows by `effect`: `temperature`, `evidence`, their `interaction`, and the `difference` of the first two. The
    verdict is `temperature` where the interval of the difference lies above 0, `evidence` where it lies below, else
    `undecided`. Questions without a score in some cell are left out and counted. Where questions have several runs,
    the same is done to the coefficient of variation over runs: `outcome` is `cv` there, and `mean` elsewhere.
    """
    rows = [
        row | {"outcome": outcome}
        for outcome in OUTCOMES
        for grid in grids(table, metric, outcome)
        if not np.isnan(grid.means).all()
        for row in _rows(grid, confidence, n_resamples)
    ]
    _add_sentences(rows)
    return OldFinding(
        analysis=NAME,
        question="Does temperature matter more than evidence?",
        rows=even(rows),
        sentences=tuple(said(row) for row in rows if row["sentence"]),
        caveats=_caveats(rows, confidence, n_resamples),
        settings={"metric": metric, "confidence": confidence, "n_resamples": n_resamples},
    )


def _rows(grid: Grid, confidence: float, n_resamples: int) -> list[Row]:
    if min(len(grid.temperatures), len(grid.evidence)) < 2:
        return []
    whole = complete(grid.means)
    ids = [grid.question_ids[i] for i in whole]
    estimates = estimated(
        partial_eta_squared(grid.means[..., whole]),
        ids,
        len(EFFECTS),
        confidence=confidence,
        n_resamples=n_resamples,
    )
    verdict = _verdict(estimates[3])
    return [
        grid.row(
            NAME,
            effect=effect,
            **known(estimate),
            n=len(ids),
            n_missing=int(grid.n_missing.sum()),
            n_left_out=len(grid.question_ids) - len(ids),
            verdict=verdict,
            reason=_reason(estimate, ids),
        )
        | {"unit": "ratio"}
        for effect, estimate in zip(EFFECTS, estimates, strict=True)
    ]


def partial_eta_squared(means: Numbers) -> Statistic:
    """Of temperature, evidence and interaction, and the first minus the second; evidence × temperatures × questions.

    SS(effect) / (SS(effect) + SS(effect × question)). With u the effects of one question (its means over the other
    factor, less its grand mean), SS(effect) is n |mean u|² and the denominator Σ |u|², each times the same number, so
    resampled questions need only their weights.
    """
    by_temperature = _centered(means.mean(axis=0))
    by_evidence = _centered(means.mean(axis=1))
    rest = means - means.mean(axis=0) - means.mean(axis=1)[:, None] + means.mean(axis=(0, 1))
    effects = [by_temperature, by_evidence, np.concatenate(rest)]

    def etas(drawn: Numbers) -> Numbers:
        temperature, evidence, interaction = (_eta(np.round(effect, ROUNDING), drawn) for effect in effects)
        return np.stack([temperature, evidence, interaction, temperature - evidence])

    return etas


def _centered(means: Numbers) -> Numbers:
    centered: Numbers = means - means.mean(axis=0)
    return centered


def _eta(effects: Numbers, drawn: Numbers) -> Numbers:
    """Of one effect (its levels × questions), for each draw; NaN where nothing varies."""
    explained = (mean_of(effects)(drawn) ** 2).sum(axis=0)
    whole = mean_of((effects**2).sum(axis=0, keepdims=True))(drawn)[0]
    eta: Numbers = np.divide(explained, whole, out=np.full_like(explained, np.nan), where=whole > 0)
    return eta


def _verdict(difference: Numbers) -> str | None:
    value, low, high = difference
    if np.isnan(value):
        return None
    if low > 0:
        return "temperature"
    return "evidence" if high < 0 else "undecided"


def _reason(estimate: Numbers, ids: Sequence[str]) -> str | None:
    if not np.isnan(estimate[0]):
        return None if not np.isnan(estimate[1]) or len(ids) < 2 else "nothing varies in some resamples"
    return "nothing varies" if ids else "no question has a score in every cell"


def _add_sentences(rows: Sequence[Row]) -> None:
    """One for each system, on the row of the difference."""
    for row in rows:
        row.update(headline=None, sentence=None, detail=None)
    for i, row in enumerate(rows):
        if row["effect"] == "difference" and row["type"] is None and row["verdict"] and row["low"] is not None:
            temperature, evidence = rows[i - 3], rows[i - 2]
            row.update(headline=NAME, sentence=_sentence(row), detail=_detail(row, temperature, evidence))


def _sentence(row: Row) -> str:
    system, metric = row["system"], measured(row["metric"])
    if row["outcome"] == "cv":
        metric = f"spread between runs (CV) of the {metric}"
    if row["verdict"] == "undecided":
        return f"Whether temperature or evidence moves the {metric} of {system} more is undecided."
    first, second = ("temperature", "evidence")[:: 1 if row["verdict"] == "temperature" else -1]
    return f"{first.capitalize()} moves the {metric} of {system} more than {second} does."


def _detail(row: Row, temperature: Row, evidence: Row) -> str:
    t, e, d = (number(one["value"], "ratio") + bounds(one) for one in (temperature, evidence, row))
    return f"Partial eta squared {t} against {e}, difference {d} ({questions(row['n'])})."


def _caveats(rows: Sequence[Row], confidence: float, n_resamples: int) -> tuple[str, ...]:
    caveats = [
        f"Intervals hold {100 * confidence:g} % of {n_resamples:,} bootstrap resamples of the questions. Partial eta "
        "squared is never negative, so its own interval cannot show that an effect is absent.",
        "Which matters more depends on the temperatures and disturbances that were tried; hotter ones weigh more.",
    ]
    if any(row["n_left_out"] for row in rows):
        caveats.append("Questions without a score in every cell are left out of the decomposition and counted.")
    return tuple(caveats)
