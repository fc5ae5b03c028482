"""Types of question compared by how much repeated answers to them differ."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from shaketable.analyses.claims import Subject
from shaketable.analyses.grids import Grid
from shaketable.analyses.rows import Scored
from shaketable.statistics.intervals import Bootstrap
from shaketable.statistics.significance import two_groups
from shaketable.types import Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class TypeContrast(Scored):
    """The mean coefficient of variation of one type of question minus that of another, over all evidence.

    Its temperature is None where all temperatures are taken together. Missing records are those of the whole system.
    """

    type: str
    other: str
    """The type whose mean is taken away."""
    difference: Estimate
    p: float | None
    """That it is not 0, by questions shuffled between the types; None: of single temperatures, which are explored."""

    @property
    def subject(self) -> Subject:
        cell = replace(self.cell, group=self.type)
        return Subject(kind="variability_of_types", cell=cell, metric=self.metric, other=self.other)


def compare_types(grid: Grid, bootstrap: Bootstrap) -> Iterator[TypeContrast]:
    """Over all temperatures, and at each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # The mean of nothing is NaN, and such questions are left out.
        at_each = np.nanmean(grid.means, axis=0)
        by_temperature = np.vstack([np.nanmean(at_each, axis=0), at_each])
    types = np.array([name or "" for name in grid.types])
    for other, name in itertools.combinations(sorted({name for name in grid.types if name is not None}), 2):
        for temperature, values in zip((None, *grid.temperatures), by_temperature, strict=True):
            own, others = (values[(types == of) & ~np.isnan(values)] for of in (name, other))
            if len(own) and len(others):
                yield TypeContrast(
                    cell=grid.cell(temperature=temperature),
                    metric=grid.metric,
                    type=name,
                    other=other,
                    difference=bootstrap.difference(own, others, unit="ratio"),
                    p=two_groups(own, others) if temperature is None and min(len(own), len(others)) > 1 else None,
                    n_missing=int(grid.n_missing.sum()),
                )
