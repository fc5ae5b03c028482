"""What two systems take for the same questions: dollars, seconds, calls, tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

from shaketable.analyses.changes import Change, measure_changes
from shaketable.analyses.pairs import pair
from shaketable.factors import FACTORS, System
from shaketable.statistics.intervals import Bootstrap
from shaketable.types import Unit

Measured = Literal["dollars", "seconds", "n_generations", "n_searches", "n_prompt_tokens", "n_tokens"]
MEASURED: dict[Measured, Unit] = {
    "dollars": "count",
    "seconds": "seconds",
    "n_generations": "count",
    "n_searches": "count",
    "n_prompt_tokens": "count",
    "n_tokens": "count",
}


LEAST_EFFORT = 0.05
"""Share of the first system's amount that a claimed difference must exceed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Effort:
    """Of an answered trial, on average over questions and the conditions that both sides were asked."""

    measured: Measured
    change: Change

    @property
    def is_claimed(self) -> bool:
        """Whether the interval lies beyond a twentieth of what the first system takes: less is nothing to act on."""
        difference, level = self.change.difference, abs(self.change.first.value or 0.0)
        if difference.low is None or difference.high is None:
            return False
        return max(difference.low, -difference.high) > LEAST_EFFORT * level


def compare_efforts(
    first: pl.DataFrame, second: pl.DataFrame, *, system: System, bootstrap: Bootstrap
) -> tuple[Effort, ...]:
    """From two tables of records, of one system each; what neither takes, or one of them does not tell, is left out."""
    efforts = []
    for measured, unit in MEASURED.items():
        one, other = _measured(first, measured), _measured(second, measured)
        values = [own["value"].drop_nulls() for own in (one, other)]
        if any(own.is_empty() for own in values) or not any(own.sum() for own in values):
            continue
        paired = pair(one, other, measured)
        change, *_ = measure_changes(paired, metric=measured, unit=unit, margin=0.0, system=system, bootstrap=bootstrap)
        efforts.append(Effort(measured=measured, change=change))
    return tuple(efforts)


def _measured(records: pl.DataFrame, measured: Measured) -> pl.DataFrame:
    """One row per record, as score tables have them; what failed took nothing that counts."""
    answered = records.filter(pl.col("failure").is_null())
    return answered.select(
        *FACTORS, "question_id", "type", "repeat", metric=pl.lit(measured), value=pl.col(measured).cast(pl.Float64)
    )
