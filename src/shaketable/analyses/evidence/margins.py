"""How much of a number is too little to matter: as the study says it, in the number's unit or in its spread."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shaketable.analyses.grids import Grid
from shaketable.errors import PartError
from shaketable.report.old_words import measured, number

POINTS = 0.05
"""Of a share, where the study says nothing."""
SPREAD = "0.2 sd"
"""Of anything else. A fixed amount would fit one encoder: raw scores of roberta-large lie so close together that 0.01
tells models apart, and those of all-MiniLM-L6-v2 spread several times as far (docs/decisions/0009)."""
WRITTEN = re.compile(r"\s*(\d*\.?\d+)\s*sd\s*")


@dataclass(frozen=True, kw_only=True)
class Margin:
    value: float
    """In the unit of the number; 0 where its spread is not known."""
    times: float | None
    """How many spreads it is; None: it was given as an amount."""
    sd: float | None
    """The spread; None: it was not asked for, or there is none."""
    unit: str

    @property
    def words(self) -> str:
        """`0.012`, or `5 points`."""
        return f"{100 * self.value:.3g} points" if self.unit == "share" else f"{self.value:.3g}"

    def caveat(self, metric: str) -> str:
        if self.times is None:
            return f"The margin is {self.words} of {measured(metric)}, as the study or the default says."
        if self.sd is None:
            return f"The margin is 0: it is told in spreads of {measured(metric)}, and the clean case has none."
        return (
            f"The margin is {self.words} of {measured(metric)}: {self.times:g} times its standard deviation between "
            f"questions with undisturbed evidence at the lowest temperature, {number(self.sd, 'score')}."
        )


def margins_of(systems: Sequence[Grid], given: float | str | None) -> Mapping[str, Margin]:
    """Metric → margin, one for all its systems, so that they are held to the same."""
    by_metric: dict[str, list[Grid]] = {}
    for grid in systems:
        by_metric.setdefault(grid.metric, []).append(grid)
    return {metric: _margin(found, given) for metric, found in by_metric.items()}


def _margin(systems: Sequence[Grid], given: float | str | None) -> Margin:
    unit = systems[0].unit
    if given is None:
        given = POINTS if unit == "share" else SPREAD
    if not isinstance(given, str):
        return Margin(value=float(given), times=None, sd=None, unit=unit)
    match = WRITTEN.fullmatch(given)
    if match is None:
        raise PartError(f"margin is {given!r}. Write an amount, such as 0.01, or spreads, such as '0.2 sd'.")
    times, sd = float(match[1]), _spread(systems)
    return Margin(value=times * (sd or 0.0), times=times, sd=sd, unit=unit)


def _spread(systems: Sequence[Grid]) -> float | None:
    """Between questions, undisturbed at the lowest temperature; of several systems the root of the mean square."""
    clean = [grid.means[0, 0][~np.isnan(grid.means[0, 0])] for grid in systems if grid.has_original]
    variances = [float(means.var(ddof=1)) for means in clean if len(means) > 1]
    return float(np.sqrt(np.mean(variances))) if any(variances) else None
