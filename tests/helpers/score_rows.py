"""Score tables for tests, from runs written by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

PLAIN: dict[str, Any] = {
    "dataset": "builtin",
    "type": None,
    "n_facts": None,
    "model": "smollm2",
    "method": "single_retrieval",
    "retriever": "gold",
    "perturbation": "unchanged",
    "variation": "original",
    "temperature": 0.0,
    "metric": "bertscore",
    "reason": None,
}
TYPES = {"type": pl.String, "n_facts": pl.Int64, "retriever": pl.String, "perturbation": pl.String}
TYPES |= {"value": pl.Float64, "reason": pl.String}


def score_rows(runs: Mapping[str, Sequence[float | None]], **factors: Any) -> pl.DataFrame:
    """One row per run of each question, in one condition."""
    rows = [
        PLAIN | factors | {"key": f"{question}/{repeat}", "question_id": question, "repeat": repeat, "value": value}
        for question, values in runs.items()
        for repeat, value in enumerate(values)
    ]
    return pl.DataFrame(rows, schema_overrides=TYPES)


TWO_QUESTIONS = {"q1": (0.96, 0.95, 0.97), "q2": (0.90, 0.80, 0.70)}
"""The worked example of the specification, section 8."""


CVS = {
    "q1": {"unchanged": (0.10, 0.30), "sentence_removal": (0.14, 0.34)},
    "q2": {"unchanged": (0.14, 0.24), "sentence_removal": (0.10, 0.20)},
}
"""Coefficients of variation at temperature 0 and 1; q1 is a bridge question, q2 a comparison."""


def two_runs(cv: float) -> tuple[float, float]:
    """Around 1; the CV wanted is their estimate without bias: with sd s it is s / c4 (1 - s² / 4), c4 = √(2 / π).

    The sd of 1 - d and 1 + d is d √2.
    """
    sd = cv
    for _ in range(50):
        sd = cv * math.sqrt(2 / math.pi) / (1 - sd**2 / 4)
    return 1 - sd / 2**0.5, 1 + sd / 2**0.5


def spread_study() -> pl.DataFrame:
    return pl.concat(
        [
            score_rows(
                {question: two_runs(cv)},
                perturbation=perturbation,
                temperature=temperature,
                type={"q1": "bridge", "q2": "comparison"}[question],
            )
            for question, of_question in CVS.items()
            for perturbation, cvs in of_question.items()
            for temperature, cv in zip((0.0, 1.0), cvs, strict=True)
        ]
    )


def ten(n_right: int) -> dict[str, tuple[float, ...]]:
    """Ten questions with two runs each, the first few of them right."""
    return _first(n_right, 10)


def twenty(n_right: int) -> dict[str, tuple[float, ...]]:
    """Twenty of the same, so that large effects are shown among several."""
    return _first(n_right, 20)


def _first(n_right: int, n: int) -> dict[str, tuple[float, ...]]:
    return {f"q{i}": (1.0, 1.0) if i < n_right else (0.0, 0.0) for i in range(n)}


def condition_rows(
    perturbation: str, temperature: float, metric: str = "bertscore", **runs: tuple[float | None, ...]
) -> pl.DataFrame:
    """One condition; keys name it, so that the same record has the same key under every metric."""
    table = score_rows(runs, perturbation=perturbation, temperature=temperature, metric=metric)
    return table.with_columns(key=pl.concat_str(pl.lit(f"{perturbation}/{temperature:g}/"), "key"))


def verdict_table(**numbers: tuple[int, int, int, int]) -> pl.DataFrame:
    """Questions with one answer each, for each rule: judge and rule both say 1, judge alone, rule alone, neither."""
    frames = []
    for rule, (both, first, second, neither) in numbers.items():
        pairs = [(1, 1)] * both + [(1, 0)] * first + [(0, 1)] * second + [(0, 0)] * neither
        for metric, place in (("judge", 0), (rule, 1)):
            runs = {f"q{i}": (float(pair[place]),) for i, pair in enumerate(pairs)}
            frames.append(score_rows(runs, metric=metric))
    return pl.concat(frames)
