"""Analyses with few resamples, for tests that need intervals but not their last digits."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import polars as pl

from shaketable.analyses.tables import Tables
from shaketable.statistics.intervals import Bootstrap

Result = TypeVar("Result")


def quick(analysis: Callable[..., Result]) -> Callable[..., Result]:
    """With few permutations, where it asks for some."""
    takes_some = "n_permutations" in inspect.signature(analysis).parameters
    return functools.partial(analysis, n_permutations=49) if takes_some else analysis


def few_tables(scores: pl.DataFrame, *, n_resamples: int = 99, **more: Any) -> Tables:
    """What analyses read, with few resamples."""
    return Tables(scores=scores, bootstrap=Bootstrap(n_resamples=n_resamples), **more)
