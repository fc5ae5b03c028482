"""What two systems take for the same questions: dollars, seconds, calls, tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

from shaketable.analyses.changes import Change, measure_changes
from shaketable.analyses.pairs import pair
from shaketable.factors import System
from shaketable.statistics.intervals import Bootstrap
from shaketable.types import Unit

Measured = Literal["dollars", "seconds", "n_generations", "n_searches", "n_prompt_tokens", "n_tokens"]
MEASURED: dict[Measured, Unit] = {
    "dollars": "score",
    "seconds": "seconds",
    "n_generations": "count",
    "n_searches": "count",
    "n_prompt_tokens": "count",
    "n_tokens": "count",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Effort:
    """Of an answered trial, on average over questions and the conditions that both sides were asked."""

    measured: Measured
    change: Change


def compare_efforts(
    first: pl.DataFrame, second: pl.DataFrame, *, system: System, bootstrap: Bootstrap
) -> tuple[Effort, ...]:
    """From two tables of records, of one system each; what neither takes, or one of them does not tell, is left out."""
    one, other = _long(first), _long(second)
    efforts = []
    for measured, unit in MEASURED.items():
        values = [own.filter(metric=measured)["value"].drop_nulls() for own in (one, other)]
        if any(own.is_empty() for own in values) or not any(own.sum() for own in values):
            continue
        paired = pair(one, other, measured)
        change, *_ = measure_changes(paired, metric=measured, unit=unit, margin=0.0, system=system, bootstrap=bootstrap)
        efforts.append(Effort(measured=measured, change=change))
    return tuple(efforts)


def _long(records: pl.DataFrame) -> pl.DataFrame:
    """One row per record and measure, as score tables have them; what failed took nothing that counts."""
    kept = [column for column in records.columns if column not in MEASURED]
    answered = records.filter(pl.col("failure").is_null())
    numbers = answered.with_columns(pl.col(list(MEASURED)).cast(pl.Float64))
    return numbers.unpivot(list(MEASURED), index=kept, variable_name="metric", value_name="value")
