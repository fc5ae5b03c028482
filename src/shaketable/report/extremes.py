"""Which systems are shown in single questions: those that temperature moves most and least."""

from __future__ import annotations

from dataclasses import replace

from shaketable.analyses.evidence.correctness import Correctness
from shaketable.factors import Cell
from shaketable.report.section import Page


def system_cell(cell: Cell) -> Cell:
    """Its system, dataset and wording, whatever the evidence, temperature and type of question."""
    return replace(cell, perturbation=None, temperature=None, group=None)


def extreme_systems(page: Page) -> list[Cell]:
    """The one that temperature moves most first; all where there are two. Empty: correctness was not asked."""
    result = page.result(Correctness)
    if result is None:
        return []
    moved = {
        system_cell(drop.cell): abs(drop.drop.value)
        for drop in result.heat_drops
        if drop.metric == result.metric
        and drop.cell.group is None
        and drop.cell.is_undisturbed
        and drop.drop.value is not None
    }
    every = dict.fromkeys(system_cell(level.cell) for level in result.levels)
    ordered = sorted(moved or every, key=lambda cell: (-moved.get(cell, 0.0), page.name(cell)))
    return ordered if len(ordered) < 3 else [ordered[0], ordered[-1]]
