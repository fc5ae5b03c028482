"""Score tables and curves of studies of facts, made by a rule: when each fact breaks is known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from shaketable.analyses.tables import Tables
from shaketable.statistics.intervals import Bootstrap
from shaketable.types import Curve, Scan

GRID = tuple(round(0.2 * step, 1) for step in range(1, 11))
DENSE = tuple(round(0.1 * step, 1) for step in range(1, 41))
PLAIN: dict[str, Any] = {
    "dataset": "builtin",
    "type": None,
    "n_facts": 0,
    "model": "smollm2",
    "method": "recall",
    "retriever": None,
    "perturbation": None,
    "variation": "original",
    "reason": None,
}
TYPES = {"type": pl.String, "retriever": pl.String, "perturbation": pl.String, "value": pl.Float64, "reason": pl.String}
LABELS = ("NUM", "LOC", "ENTY", "HUM")


def fact_rows(
    question_id: str,
    *,
    scores: Mapping[str, float | None],
    shares: Mapping[float, float] | None = None,
    n: int = 10,
    **factors: Any,
) -> list[dict[str, Any]]:
    """One question: scores at temperature 0, and of n answers at each temperature the share that is correct."""
    plain = PLAIN | {"question_id": question_id} | factors
    name = f"{plain['model']}/{plain['dataset']}/{question_id}"
    rows = [
        plain | {"key": f"{name}/0", "metric": metric, "value": value, "temperature": 0.0, "repeat": 0}
        for metric, value in scores.items()
    ]
    for temperature, share in (shares or {}).items():
        rows += [
            plain
            | {
                "key": f"{name}/{temperature}/{repeat}",
                "metric": "contains",
                "value": float(repeat < round(share * n)),
                "temperature": temperature,
                "repeat": repeat,
            }
            for repeat in range(n)
        ]
    return rows


def known(entropy: float | None, *, right: float | None = 1.0, **more: float | None) -> dict[str, float | None]:
    """Scores at temperature 0."""
    return {"exact_match": right, "contains": right, "entropy": entropy} | more


def table_of(*groups: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    rows = [row for group in groups for row in group]
    return pl.DataFrame(rows, schema_overrides=TYPES, infer_schema_length=None)


def scan(breaking: float | None) -> dict[float, float]:
    """Always right below its breaking temperature, and never from there on."""
    return {t: float(breaking is None or t < breaking) for t in GRID}


def made_facts(
    *,
    models: Sequence[str] = ("smollm2",),
    datasets: Sequence[str] = ("builtin",),
    n: int = 24,
    temperatures: Sequence[float] = GRID,
    repeats: int = 10,
    seed: int = 0,
) -> pl.DataFrame:
    """Facts whose breaking temperature falls with their entropy, plus noise; every fourth question is answered wrong.

    Models differ in what they know and in how firmly they hold it: each breaks 0.3 later than the one before.
    """
    rng = np.random.default_rng(seed)
    groups = []
    for dataset in datasets:
        for i in range(n):
            entropy, noise = rng.uniform(0.02, 0.6), rng.normal(0, 0.2)
            for place, model in enumerate(models):
                middle = 2.2 - 3 * entropy + noise + 0.3 * place
                shares = {t: 1 / (1 + math.exp(6 * (t - middle))) for t in temperatures}
                right = float((i + place) % 4 != 0)
                groups.append(
                    fact_rows(
                        f"q{i:03}",
                        scores=known(
                            entropy,
                            right=right,
                            margin=float(3 - 3 * entropy + rng.normal(0, 0.3)),
                            answer_tokens=float(1 + i % 3),
                            certainty=1.0,
                        ),
                        shares=shares if right else {t: 0.3 if t > 1 and i % 8 == 0 else 0.0 for t in temperatures},
                        n=repeats,
                        dataset=dataset,
                        model=model,
                        type=LABELS[i % 4],
                    )
                )
    table = table_of(*groups)
    hot = table.filter((pl.col("metric") == "contains") & (pl.col("temperature") > 0))
    sure = hot.with_columns(
        metric=pl.lit("certainty"), value=(0.95 - 0.3 * pl.col("temperature") + 0.2 * pl.col("value")).clip(0, 1)
    )
    return pl.concat([table, sure])


def made_curve(key: str, middle: float, *, steepness: float = 6.0, **more: Any) -> Curve:
    """A falling curve that is one half at `middle`; exact: bounds and estimate are one."""
    values = tuple(1 / (1 + math.exp(steepness * (t - middle))) for t in DENSE)
    breaking = middle if middle < DENSE[-1] else None
    return Curve(
        **{
            "key": key,
            "temperatures": DENSE,
            "low": values,
            "high": values,
            "value": values,
            "value_low": values,
            "value_high": values,
            "breaking": breaking,
            "breaking_low": breaking,
            "breaking_high": breaking,
        }
        | more
    )


def fact_tables(
    scores: pl.DataFrame, curves: Sequence[Curve] = (), *, scan: Scan | None = None, n_resamples: int = 2000
) -> Tables:
    """What analyses of facts read."""
    return Tables(
        scores=scores,
        read_curves=lambda: curves,
        scan=scan or Scan(),
        bootstrap=Bootstrap(n_resamples=n_resamples),
    )


def made_certainties(certainties: Sequence[float]) -> pl.DataFrame:
    """One known fact: answers at temperature 1 with these certainties, the first half of them correct."""
    rows = fact_rows("q", scores=known(0.1, certainty=1.0), shares={1.0: 0.5}, n=len(certainties))
    hot = [row for row in rows if row["temperature"] == 1.0]
    return table_of(rows, [row | {"metric": "certainty", "value": c} for row, c in zip(hot, certainties, strict=True)])


def foretold_facts(n: int = 60, *, weight: float = 0.0) -> tuple[pl.DataFrame, list[Curve]]:
    """Facts whose curves break where log(1 + t_b) = 1 − entropy + weight × margin + noise."""
    rng = np.random.default_rng(0)
    entropy, margin, noise = rng.uniform(0, 0.8, n), rng.uniform(0, 1, n), rng.normal(0, 0.02, n)
    breaking = np.expm1(1 - entropy + weight * margin + noise)
    table = table_of(
        *(
            fact_rows(f"q{i}", scores=known(entropy[i], margin=margin[i], answer_tokens=1.0 + i % 3), type="NUM")
            for i in range(n)
        )
    )
    return table, [made_curve(f"smollm2/builtin/q{i}/0", float(breaking[i])) for i in range(n)]
