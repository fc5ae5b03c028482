"""Scores of a crossed study, laid out by its settings."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from shaketable.statistics.variance_split import Cross

SETTINGS = {
    "temperature": "temperature",
    "evidence": "perturbation",
    "wording": "variation",
    "method": "method",
    "retriever": "retriever",
    "model": "model",
}
"""What a study can cross, and the column that tells it."""
NOTHING_VARIED = "no setting has two values or more"
NOT_CROSSED = "the settings are not fully crossed"
TOO_FEW = "fewer than two questions have a score in every setting"


def cross_settings(questions: pl.DataFrame) -> Cross | str:
    """The questions that have a score in every setting, or why there is no cross."""
    levels = {name: sorted(questions[column].unique(), key=str) for name, column in SETTINGS.items()}
    factors = tuple(name for name, values in levels.items() if len(values) > 1)
    if not factors:
        return NOTHING_VARIED
    columns = [SETTINGS[name] for name in factors]
    shape = tuple(len(levels[name]) for name in factors)
    if questions.select(columns).n_unique() < math.prod(shape):
        return NOT_CROSSED
    ids = sorted(questions["question_id"].unique())
    where = tuple(
        np.array([places[value] for value in questions[column]], dtype=np.intp)
        for column, values in (("question_id", ids), *((SETTINGS[name], levels[name]) for name in factors))
        for places in [{value: i for i, value in enumerate(values)}]
    )
    means, variances, n_runs = (np.full((len(ids), *shape), np.nan) for _ in range(3))
    means[where] = questions["mean"].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    variances[where] = (questions["sd"].cast(pl.Float64) ** 2).fill_null(float("nan")).to_numpy()
    n_runs[where] = questions["n_runs"].to_numpy()
    repeated, scored = (~np.isnan(values).any(axis=tuple(range(1, values.ndim))) for values in (variances, means))
    whole = np.flatnonzero(repeated if repeated.any() else scored)
    if len(whole) < 2:
        return TOO_FEW
    kept = variances[whole] if repeated.any() else None
    return Cross(
        factors=factors,
        question_ids=tuple(ids[i] for i in whole),
        means=means[whole],
        variances=kept,
        errors=np.zeros_like(means[whole]) if kept is None else kept / n_runs[whole],
    )
