from __future__ import annotations

from dataclasses import dataclass

from shaketable.factors import Cell, System
from shaketable.report.grouping import group_by_cell, group_by_metric, group_lines


@dataclass(frozen=True)
class Value:
    name: str
    cell: Cell
    metric: str = "contains"


def value(name: str, perturbation: str, temperature: float, metric: str = "contains") -> Value:
    cell = Cell(system=System(model="m"), perturbation=perturbation, temperature=temperature)
    return Value(name, cell, metric)


VALUES = (value("a", "masking", 0.0), value("b", "removal", 0.0), value("c", "masking", 1.0))


def test_values_that_differ_in_pooled_factors_alone_stand_together_in_their_order() -> None:
    lines = group_by_cell(VALUES, "temperature")
    assert [[own.name for own in line] for line in lines.values()] == [["a", "c"], ["b"]]
    assert list(lines) == [
        Cell(system=System(model="m"), perturbation=name, temperature=None) for name in ("masking", "removal")
    ]
    assert len(group_by_cell(VALUES, "temperature", "perturbation")) == 1
    assert len(group_by_cell(VALUES)) == 3


def test_metrics_are_never_drawn_together() -> None:
    both = (*VALUES, value("d", "masking", 2.0, metric="rouge1"))
    assert [[own.name for own in line] for line in group_lines(both)] == [["a", "c"], ["b"], ["d"]]
    assert [len(line) for line in group_by_metric(both, "temperature", "perturbation")] == [3, 1]
