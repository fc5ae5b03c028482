"""Studies of evidence and temperature in which nothing makes a difference: every condition has the same truth."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl

from known_truth import draws
from known_truth.draws import Numbers, Rng
from known_truth.tables import Layout, score_table
from shaketable.analyses.tables import Tables
from shaketable.types import Study

TYPES = ("bridge", "comparison")
N_TEMPERATURES = 5
FLOOR = 0.1
"""What answers to other questions score: far below, so that there is something to lose."""


def temperatures_of(study: Study) -> tuple[float, ...]:
    """Some of them, from the coolest to the hottest."""
    places = np.linspace(0, len(study.temperatures) - 1, min(N_TEMPERATURES, len(study.temperatures)))
    return tuple(study.temperatures[round(place)] for place in places)


def evidence_tables(rng: Rng, n: int, word: str, study: Study, *, planted: float = 0.0) -> Tables:
    """Scores and correctness of all kinds of evidence; `planted`: what the last kind costs in correctness."""
    size = (len(study.perturbations), len(heat := temperatures_of(study)))
    correct = _alike(draws.chances(rng, (1, 1, 1, n), 0.6, 0.5), size)
    correct[:, -1] *= 1 - planted / 0.6
    middle = _alike(0.7 + 0.1 * rng.standard_normal((1, 1, 1, n)), size)
    scores = middle[..., None] + 0.05 * rng.standard_normal((*middle.shape, study.repeats))
    values = {"bertscore": scores, "correct": draws.answers(rng, correct, study.repeats)}
    parts = [
        score_table(own, Layout(metric=metric, temperatures=heat, types=TYPES), word)
        for metric, own in sorted(values.items(), key=lambda pair: study.metrics.index(pair[0]))
    ]
    return _tables(pl.concat(parts), study)


def joint_tables(rng: Rng, n: int, word: str, study: Study) -> Tables:
    """Correctness of all methods, wordings and kinds of evidence; closed-book answers are worse."""
    heat = temperatures_of(study)
    known = draws.chances(rng, (1, 1, 1, n), 0.6, 0.5)
    parts = []
    for i, (method, variation) in enumerate(itertools.product(study.methods, study.variations)):
        searches = not method.startswith("closed_book")
        chance = _alike(known if searches else 0.4 * known, (len(study.perturbations) if searches else 1, len(heat)))
        layout = Layout(temperatures=heat, types=TYPES)
        table = score_table(draws.answers(rng, chance, study.repeats), layout, word).with_columns(
            key=pl.concat_str(pl.lit(f"{i}/"), "key"), method=pl.lit(method), variation=pl.lit(variation)
        )
        nothing = pl.lit(None, dtype=pl.String)
        parts.append(table if searches else table.with_columns(perturbation=nothing, retriever=nothing))
    return _tables(pl.concat(parts), study)


def _alike(values: Numbers, size: tuple[int, int]) -> Numbers:
    """The same for every kind of evidence and temperature."""
    return np.broadcast_to(values, (values.shape[0], *size, values.shape[-1])).copy()


def _tables(scores: pl.DataFrame, study: Study) -> Tables:
    floors = scores.select("key", "metric", value=pl.lit(FLOOR))
    return Tables(
        scores=scores,
        read_baselines=lambda: floors,
        chosen_metric=study.main_metric,
        margin=study.margin,
        repeats=study.repeats,
    )
