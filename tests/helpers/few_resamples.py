"""Analyses with few resamples, for tests that need intervals but not their last digits."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable

from shaketable.types import OldFinding

FEW = {"n_resamples": 99, "n_permutations": 49}


def quick(analysis: Callable[..., OldFinding]) -> Callable[..., OldFinding]:
    taken = inspect.signature(analysis).parameters
    return functools.partial(analysis, **{name: n for name, n in FEW.items() if name in taken})
