"""Score tables of whole studies, made by a rule: what heat and disturbed evidence cost is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from score_rows import PLAIN, TYPES, score_rows

TEMPERATURES = tuple(step / 5 for step in range(11))
COSTS = {"unchanged": 0.0, "entity_masking": 0.01, "sentence_removal": 0.02, "sentence_replacement": 0.03}
DROPS = (0.012, 0.004, -0.003, 0.020, 0.008, 0.015, -0.001, 0.006, 0.011, 0.009)
"""The worked example of the specification, section 9: original minus disturbed, by question."""


def made_study(
    *,
    models: Sequence[str] = ("smollm2",),
    costs: Mapping[str, float] = COSTS,
    temperatures: Sequence[float] = TEMPERATURES,
    n_questions: int = 20,
    n_runs: int = 3,
    onset: float = 1.0,
    steepness: float = 0.2,
    growth: float = 0.0,
    noise: float = 0.01,
    seed: int = 0,
    metric: str = "bertscore",
) -> pl.DataFrame:
    """0.95, less the cost of the evidence (growing with heat), less `steepness` per degree above the onset, plus noise.

    Questions alternate between bridge and comparison.
    """
    shape = (len(models), len(temperatures), len(costs), n_questions, n_runs)
    rng = np.random.default_rng(seed)
    heat = np.array(temperatures)[:, None, None, None]
    cost = np.array(list(costs.values()))[:, None, None]
    own = rng.normal(0, noise, n_questions)[:, None]
    values = 0.95 + own - cost * (1 + growth * heat) - steepness * np.maximum(0, heat - onset)
    values = values + rng.normal(0, noise, shape)
    at = np.indices(shape).reshape(len(shape), -1)
    columns = {
        "model": [models[i] for i in at[0]],
        "temperature": np.array(temperatures, dtype=float)[at[1]],
        "perturbation": [list(costs)[i] for i in at[2]],
        "question_id": [f"q{i:04}" for i in at[3]],
        "type": [("bridge", "comparison")[i % 2] for i in at[3]],
        "repeat": at[4],
        "value": values.ravel(),
    }
    plain = {name: value for name, value in PLAIN.items() if name not in columns} | {"metric": metric}
    return pl.DataFrame(columns).with_columns(
        *(pl.lit(value, dtype=TYPES.get(name)).alias(name) for name, value in plain.items()),
        key=pl.concat_str("model", "temperature", "perturbation", "question_id", "repeat", separator="/"),
    )


def pair(differences: tuple[float, ...], **factors: object) -> pl.DataFrame:
    """One run each with original evidence at 0.9, and below it by these differences."""
    original = {f"q{i}": (0.9,) for i in range(len(differences))}
    disturbed = {f"q{i}": (0.9 - d,) for i, d in enumerate(differences)}
    return pl.concat(
        [score_rows(original, **factors), score_rows(disturbed, **factors | {"perturbation": "sentence_removal"})]
    )
