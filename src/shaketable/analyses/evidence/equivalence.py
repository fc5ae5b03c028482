"""At which temperatures is disturbed evidence as good as the original?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from shaketable.analyses.evidence.margins import Margin, choose_margin, margins_of
from shaketable.analyses.grids import Grid, systems
from shaketable.analyses.rows import Scored
from shaketable.analyses.tables import Tables
from shaketable.statistics.intervals import Bootstrap
from shaketable.statistics.significance import difference_test, equivalence_test, holm
from shaketable.types import Estimate

Verdict = Literal["equivalent", "different", "undecided"]
TOO_FEW = "fewer than two questions"


@dataclass(frozen=True, kw_only=True, slots=True)
class EquivalenceTest(Scored):
    """One disturbance at one temperature against the original, paired by question."""

    difference: Estimate
    """Original minus disturbed."""
    delta: float
    """The margin, in the unit of the number."""
    p: float | None
    """Of two one-sided t tests; None: too few questions."""
    p_adjusted: float | None
    """By Holm, over the temperatures of the line."""
    p_difference: float | None
    """Of a two-sided t test against 0."""
    p_difference_adjusted: float | None
    verdict: Verdict | None
    """`equivalent`: the difference lies inside ±delta. `different`: it is not shown to, and it is not 0. `undecided`:
    neither. None: there was nothing to test."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Equivalence:
    """At which temperatures are answers from disturbed evidence as good as from the original?"""

    tests: tuple[EquivalenceTest, ...]
    """Line by line: a system, a type of question and a disturbance, from cool to hot."""
    margins: tuple[Margin, ...]
    """One for each metric."""
    alpha: float

    tells_of_evidence: ClassVar[bool] = True


def equivalence(
    tables: Tables, *, metric: str | None = None, margin: float | str | None = None, alpha: float = 0.05
) -> Equivalence:
    """Paired TOST of original minus disturbed against a margin, at each temperature.

    Ps are adjusted over the temperatures of a line. `margin` is delta in the metric's unit, or in its spread
    (`'0.2 sd'`); None: the study's, else 0.05 for a share, 0.2 sd for anything else.
    """
    grids = list(systems(tables.scores, metric or tables.metric()))
    margins = margins_of(grids, choose_margin(tables, margin, metric))
    return Equivalence(
        tests=tuple(
            test
            for pooled in grids
            for grid in (pooled, *pooled.by_type())
            for test in _tests(grid, margins[grid.metric].value, alpha, tables.bootstrap)
        ),
        margins=tuple(margins.values()),
        alpha=alpha,
    )


def _tests(grid: Grid, delta: float, alpha: float, bootstrap: Bootstrap) -> list[EquivalenceTest]:
    if not grid.perturbations:
        return []
    drops, n_missing = grid.drops(), grid.n_missing_pairs()
    estimates = bootstrap.means(
        drops.reshape(-1, drops.shape[2]), grid.question_ids, unit=grid.unit, is_difference=True
    )
    tests = []
    for i, perturbation in enumerate(grid.perturbations):
        paired = [line[~np.isnan(line)] for line in drops[i]]
        ps = [equivalence_test(line, delta) if len(line) > 1 else None for line in paired]
        differing = [difference_test(line) if len(line) > 1 else None for line in paired]
        adjusted, differing_adjusted = holm(ps), holm(differing)
        for j, temperature in enumerate(grid.temperatures):
            estimate = estimates[i * len(grid.temperatures) + j]
            tests.append(
                EquivalenceTest(
                    cell=grid.cell(perturbation=perturbation, temperature=temperature),
                    metric=grid.metric,
                    difference=estimate if len(paired[j]) > 1 else replace(estimate, reason=TOO_FEW),
                    n_missing=int(n_missing[i, j]),
                    delta=delta,
                    p=ps[j],
                    p_adjusted=adjusted[j],
                    p_difference=differing[j],
                    p_difference_adjusted=differing_adjusted[j],
                    verdict=_verdict(adjusted[j], differing_adjusted[j], alpha),
                )
            )
    return tests


def _verdict(p: float | None, p_difference: float | None, alpha: float) -> Verdict | None:
    if p is None or p_difference is None:
        return None
    if p < alpha:
        return "equivalent"
    return "different" if p_difference < alpha else "undecided"
