"""At which temperatures is disturbed evidence as good as the original?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

from shaketable.analyses.claims import Claim, Subject, weigh_temperatures
from shaketable.analyses.evidence.margins import Margin, choose_margin, margins_of
from shaketable.analyses.failures import worst_drops
from shaketable.analyses.grids import Grid, systems
from shaketable.analyses.rows import Scored
from shaketable.analyses.tables import Tables
from shaketable.statistics.bounds import p_equivalent
from shaketable.statistics.differences import bound_differences
from shaketable.statistics.intervals import Bootstrap, Numbers
from shaketable.statistics.sign_flips import sign_flip
from shaketable.types import Estimate

TOO_FEW = "fewer than two questions"


@dataclass(frozen=True, kw_only=True, slots=True)
class EquivalenceTest(Scored):
    """One disturbance at one temperature against the original, paired by question."""

    difference: Estimate
    """Original minus disturbed."""
    delta: float
    """The margin, in the unit of the number."""
    p: float | None
    """That the difference lies inside ±delta: below a where the interval of confidence 1 − 2a does; None: too few
    questions."""
    p_difference: float | None
    """That it is not 0, by signs of questions flipped."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Equivalence:
    """At which temperatures are answers from disturbed evidence as good as from the original?"""

    metric: str | None
    """The number that is spoken of."""
    tests: tuple[EquivalenceTest, ...]
    """Line by line: a system, a type of question and a disturbance, from cool to hot."""
    margins: tuple[Margin, ...]
    """One for each metric."""

    tells_of_evidence: ClassVar[bool] = True

    def claims(self) -> Iterable[Claim]:
        """Of all types of question together: that a difference lies within the margin, and that it is not 0."""
        weights = weigh_temperatures(test.cell for test in self.tests)
        for test in self.tests:
            if test.metric == self.metric and test.cell.group is None:
                differs = Claim(
                    subject=Subject(kind="evidence", cell=test.cell, metric=test.metric),
                    estimate=test.difference,
                    p=test.p_difference,
                    reason=test.reason,
                    weight=weights[test.cell.temperature or 0.0],
                )
                yield differs
                yield replace(differs, says="equivalent", margin=test.delta, p=test.p, reason=None)


def equivalence(tables: Tables, *, metric: str | None = None, margin: float | str | None = None) -> Equivalence:
    """Original minus disturbed against a margin, at each temperature.

    `margin` is delta in the metric's unit, or in its spread (`'0.2 sd'`); None: the study's, else 0.05 for a share,
    0.2 sd for anything else.
    """
    chosen = metric or tables.metric()
    grids = list(systems(tables.score_reader, chosen))
    margins = margins_of(grids, choose_margin(tables, margin, metric))
    return Equivalence(
        metric=tables.metric() if chosen == "all" else chosen,
        tests=tuple(
            test
            for pooled in grids
            for grid in (pooled, *pooled.by_type())
            for test in _tests(grid, margins[grid.metric].value, tables.bootstrap)
        ),
        margins=tuple(margins.values()),
    )


def _tests(grid: Grid, delta: float, bootstrap: Bootstrap) -> list[EquivalenceTest]:
    if not grid.perturbations:
        return []

    def test_margin(values: Numbers) -> list[float]:
        ps: list[float] = p_equivalent(bound_differences(values, grid.unit == "share"), delta).tolist()
        return ps

    drops, n_missing = grid.drops(), grid.n_missing_pairs()
    differences = bootstrap.means(
        drops.reshape(-1, drops.shape[2]), grid.question_ids, unit=grid.unit, is_difference=True
    )
    inside = worst_drops(grid, test_margin, keeps_sign=False)
    apart = worst_drops(grid, lambda values: sign_flip(values, grid.question_ids))
    return [
        EquivalenceTest(
            cell=grid.cell(perturbation=perturbation, temperature=temperature),
            metric=grid.metric,
            difference=differences[at] if differences[at].n > 1 else replace(differences[at], reason=TOO_FEW),
            delta=delta,
            p=inside[at].p if differences[at].n > 1 else None,
            p_difference=apart[at].p if differences[at].n > 1 else None,
            n_missing=int(n_missing[i, j]),
            worst_low=apart[at].low,
            worst_high=apart[at].high,
        )
        for i, perturbation in enumerate(grid.perturbations)
        for j, temperature in enumerate(grid.temperatures)
        for at in [i * len(grid.temperatures) + j]
    ]
