"""Does heat amplify the harm of disturbed evidence?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shaketable.analyses.grids import Grid, Row, even, grids
from shaketable.report.old_words import cost, holds_zero, named, questions, said, sentence_case
from shaketable.statistics.intervals import (
    Numbers,
    Statistic,
    alike,
    complete,
    estimated,
    known,
    mean_estimates,
    mean_of,
)
from shaketable.types import OldFinding

NAME = "amplification"


def amplification(
    table: pl.DataFrame,
    *,
    metric: str | None = None,
    min_drop: float = 0.001,
    confidence: float = 0.95,
    n_resamples: int = 2000,
) -> OldFinding:
    """Two kinds of rows: `ratio`, the mean drop at a temperature over that at the coolest, and `slope`.

    A ratio is None where the mean drop at the coolest temperature is below `min_drop`, and has no interval where it is
    in some resample. The slope is that of the least-squares line through the mean drops, per unit of temperature, from
    the questions that have a drop at every temperature.
    """
    rows = [row for grid in grids(table, metric) for row in _rows(grid, min_drop, confidence, n_resamples)]
    _add_sentences(rows)
    return OldFinding(
        analysis=NAME,
        question="Does heat amplify the harm of disturbed evidence?",
        rows=even(rows),
        sentences=tuple(said(row) for row in rows if row["sentence"]),
        caveats=_caveats(rows, min_drop, confidence, n_resamples),
        settings={"metric": metric, "min_drop": min_drop, "confidence": confidence, "n_resamples": n_resamples},
    )


def _rows(grid: Grid, min_drop: float, confidence: float, n_resamples: int) -> list[Row]:
    if not grid.perturbations:
        return []
    bootstrap: dict[str, Any] = {"confidence": confidence, "n_resamples": n_resamples}
    drops, n_missing = grid.drops(), grid.n_missing_pairs()
    ratios, n = _ratios(drops, grid.question_ids, min_drop, bootstrap)
    rows = []
    for i, perturbation in enumerate(grid.perturbations):
        rows += [
            grid.row(
                NAME,
                perturbation=perturbation,
                temperature=temperature,
                kind="ratio",
                **known(ratios[i, j]),
                n=int(n[i, j]),
                n_missing=int(n_missing[i, j]),
                reference_temperature=grid.temperatures[0],
                reason=_reason(ratios[i, j], int(n[i, j]), min_drop),
            )
            | {"unit": "ratio"}
            for j, temperature in enumerate(grid.temperatures)
        ]
        if len(grid.temperatures) > 1:
            rows.append(_slope_row(grid, perturbation, drops[i], int(n_missing[i].sum()), bootstrap))
    return rows


def _ratios(
    drops: Numbers, question_ids: Sequence[str], min_drop: float, bootstrap: dict[str, Any]
) -> tuple[Numbers, NDArray[np.int64]]:
    """Each estimate comes from the questions that have both drops."""
    hot = drops.reshape(-1, drops.shape[2])
    cool = np.repeat(drops[:, 0], drops.shape[1], axis=0)
    both = ~np.isnan(hot) & ~np.isnan(cool)
    estimates = np.full((len(hot), 3), np.nan)
    for rows, columns in alike(both):
        here = np.ix_(rows, columns)
        statistic = _ratio_of_means(hot[here], cool[here], min_drop)
        estimates[rows] = estimated(statistic, [question_ids[i] for i in columns], len(rows), **bootstrap)
    return estimates.reshape(*drops.shape[:2], 3), both.sum(axis=1).reshape(drops.shape[:2])


def _ratio_of_means(hot: Numbers, cool: Numbers, min_drop: float) -> Statistic:
    def ratio(drawn: Numbers) -> Numbers:
        over, under = mean_of(hot)(drawn), mean_of(cool)(drawn)
        return np.divide(over, under, out=np.full_like(over, np.nan), where=under >= min_drop)

    return ratio


def _reason(estimate: Numbers, n: int, min_drop: float) -> str | None:
    if not n:
        return "no scores"
    if np.isnan(estimate[0]):
        return f"the drop at the coolest temperature is below {min_drop:g}"
    if np.isnan(estimate[1]) and n > 1:
        return f"the drop at the coolest temperature is below {min_drop:g} in some resamples"
    return None


def _slope_row(grid: Grid, perturbation: str, drops: Numbers, n_missing: int, bootstrap: dict[str, Any]) -> Row:
    whole = complete(drops)
    ids = [grid.question_ids[i] for i in whole]
    # A mean of the questions' own slopes is the slope of their means, since all have the same temperatures.
    slopes = np.polyfit(grid.temperatures, drops[:, whole], 1)[0] if ids else np.empty(0)
    (estimate,), _ = mean_estimates(slopes[None], ids, **bootstrap)
    return grid.row(
        NAME,
        perturbation=perturbation,
        kind="slope",
        **known(estimate),
        n=len(ids),
        n_missing=n_missing,
        n_left_out=len(grid.question_ids) - len(ids),
        reason=None if ids else "no question has a drop at every temperature",
    )


def _add_sentences(rows: Sequence[Row]) -> None:
    """One for each system and disturbance, on the row of the slope."""
    for row in rows:
        row.update(headline=None, sentence=None, detail=None)
        if row["kind"] == "slope" and row["type"] is None and row["low"] is not None:
            row.update(headline=NAME, sentence=_sentence(row), detail=f"Measured on {questions(row['n'])[4:]}.")


def _sentence(row: Row) -> str:
    cause, system = named(row["perturbation"]), row["system"]
    per = f"{cost(row)} per unit of temperature"
    if holds_zero(row):
        return f"{sentence_case(cause)}: no change of its cost with temperature was found for {system} ({per})."
    if row["value"] > 0:
        return f"The hotter {system} runs, the more {cause} costs it: {per}."
    return f"The hotter {system} runs, the less {cause} costs it: {per}."


def _caveats(rows: Sequence[Row], min_drop: float, confidence: float, n_resamples: int) -> tuple[str, ...]:
    caveats = [
        f"Intervals hold {100 * confidence:g} % of {n_resamples:,} bootstrap resamples of the questions.",
        "Where heat alone ruins every answer, nothing is left for disturbed evidence to cost: a falling cost is then "
        "no sign of robustness.",
    ]
    if any(row["kind"] == "ratio" and row["reason"] and row["n"] for row in rows):
        caveats.append(f"Ratios are left out where the drop they are divided by may be below {min_drop:g}.")
    if any(row.get("reference_temperature") for row in rows):
        caveats.append("Temperature 0 was not tried; ratios are to the coolest temperature there is.")
    return tuple(caveats)
