"""Analyses with few resamples, for tests that need intervals but not their last digits."""

from __future__ import annotations

from typing import Any

import polars as pl

from shaketable.analyses.tables import Tables
from shaketable.statistics.intervals import Bootstrap


def few_tables(scores: pl.DataFrame, *, n_resamples: int = 99, **more: Any) -> Tables:
    """What analyses read, with few resamples."""
    return Tables(scores=scores, bootstrap=Bootstrap(n_resamples=n_resamples), **more)
