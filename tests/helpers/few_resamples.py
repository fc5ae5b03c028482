"""Analyses with few resamples, for tests that need intervals but not their last digits."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import polars as pl

from shaketable.analyses.tables import Tables
from shaketable.statistics.intervals import Bootstrap
from shaketable.types import OldFinding

FEW = {"n_resamples": 99, "n_permutations": 49}


def quick(analysis: Callable[..., OldFinding]) -> Callable[..., OldFinding]:
    taken = inspect.signature(analysis).parameters
    return functools.partial(analysis, **{name: n for name, n in FEW.items() if name in taken})


def few_tables(scores: pl.DataFrame, *, n_resamples: int = 99, **more: Any) -> Tables:
    """What analyses read, with few resamples."""
    return Tables(scores=scores, bootstrap=Bootstrap(n_resamples=n_resamples), **more)
