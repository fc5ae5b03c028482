"""How much of a number is too little to matter: as the study says it, in the number's unit or in its spread."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shaketable.analyses.grids import Grid
from shaketable.analyses.tables import Tables
from shaketable.errors import PartError
from shaketable.types import Unit

POINTS = 0.05
"""Of a share, where the study says nothing."""
SPREAD = "0.2 sd"
"""Of anything else. A fixed amount would fit one encoder: raw scores of roberta-large lie so close together that 0.01
tells models apart, and those of all-MiniLM-L6-v2 spread several times as far (docs/decisions/0009)."""
WRITTEN = re.compile(r"\s*(\d*\.?\d+)\s*sd\s*")


@dataclass(frozen=True, kw_only=True, slots=True)
class Margin:
    metric: str
    value: float
    """In the unit of the number; 0 where its spread is not known."""
    times: float | None
    """How many spreads it is; None: it was given as an amount."""
    sd: float | None
    """The spread; None: it was not asked for, or there is none."""
    unit: Unit


def choose_margin(tables: Tables, margin: float | str | None, metric: str | None) -> float | str | None:
    """What an analysis was told, else what the study says, which is of its own number alone; None: by the rule."""
    if margin is None and metric in (None, tables.metric()):
        return tables.margin
    return margin


def margins_of(systems: Sequence[Grid], given: float | str | None) -> Mapping[str, Margin]:
    """Metric → margin, one for all its systems, so that they are held to the same."""
    by_metric: dict[str, list[Grid]] = {}
    for grid in systems:
        by_metric.setdefault(grid.metric, []).append(grid)
    return {metric: _margin(alike, given) for metric, alike in by_metric.items()}


def _margin(systems: Sequence[Grid], given: float | str | None) -> Margin:
    metric, unit = systems[0].metric, systems[0].unit
    if given is None:
        given = POINTS if unit == "share" else SPREAD
    if not isinstance(given, str) and 0 <= given < math.inf:
        return Margin(metric=metric, value=float(given), times=None, sd=None, unit=unit)
    match = WRITTEN.fullmatch(given) if isinstance(given, str) else None
    if match is None:
        raise PartError(f"margin is {given!r}. Write an amount, such as 0.01, or spreads, such as '0.2 sd'.")
    times, sd = float(match[1]), _spread(systems)
    return Margin(metric=metric, value=times * (sd or 0.0), times=times, sd=sd, unit=unit)


def _spread(systems: Sequence[Grid]) -> float | None:
    """Between questions, undisturbed at the lowest temperature; of several systems the root of the mean square."""
    clean = [grid.means[0, 0][~np.isnan(grid.means[0, 0])] for grid in systems if grid.has_original]
    variances = [float(means.var(ddof=1)) for means in clean if len(means) > 1]
    return float(np.sqrt(np.mean(variances))) if any(variances) else None
