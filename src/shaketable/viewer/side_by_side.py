"""The results of several runs and systems side by side: what was asked under equal conditions stands in one row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from shaketable.analyses.evidence.correctness import Correctness, Level
from shaketable.factors import UNCHANGED, Cell, Labels, System, given_names
from shaketable.report.words import name_evidence
from shaketable.store import Run
from shaketable.types import Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """A system of a run."""

    run: str
    label: str
    """How the system is named among those of all runs."""
    address: str
    """By which a comparison finds it: the run, and the parts of the system."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One condition."""

    dataset: str
    evidence: str
    variation: str
    temperature: float
    numbers: list[Estimate | None]
    """One for each column; None: not asked there."""


@dataclass(frozen=True, kw_only=True)
class SideBySide:
    metric: str
    metrics: list[str]
    columns: list[Column]
    """Those that have the metric."""
    every: list[Column]
    """Whatever they were scored by."""
    lines: list[Line]

    @property
    def has_datasets(self) -> bool:
        return len({line.dataset for line in self.lines}) > 1


def side_by_side(runs: Mapping[str, Run], metric: str | None) -> SideBySide | None:
    """What the analysis `correctness` gave for each system of each run; None: there are no two of them."""
    levels = {name: _levels(run) for name, run in runs.items()}
    metrics = list(dict.fromkeys(level.metric for of_run in levels.values() for level in of_run))
    if not metrics:
        return None
    chosen = metric if metric in metrics else str(next(iter(runs.values())).main_metric(metrics))
    found = [(name, level) for name, of_run in levels.items() for level in of_run]
    given = [name for run in runs.values() for name in given_names(run.study)]
    labels = Labels.of_cells((level.cell for _, level in found), given)
    every = _places(found, labels, list(runs))
    if len(every) < 2:
        return None
    scored = [(name, level) for name, level in found if level.metric == chosen]
    places = _places(scored, labels, list(runs))
    return SideBySide(
        metric=chosen,
        metrics=metrics,
        columns=[_column(place, labels) for place in places],
        every=[_column(place, labels) for place in every],
        lines=_lines(scored, places),
    )


def _lines(scored: Sequence[tuple[str, Level]], places: Sequence[tuple[str, System]]) -> list[Line]:
    has_evidence = any(level.cell.perturbation for _, level in scored)
    conditions: dict[Cell, list[Estimate | None]] = {}
    for name, level in scored:
        numbers = conditions.setdefault(_condition(level.cell, has_evidence), [None] * len(places))
        numbers[places.index((name, _system(level.cell)))] = level.mean
    return [
        Line(
            dataset=cell.dataset or "",
            evidence=name_evidence(cell.perturbation),
            variation=cell.variation or "",
            temperature=cell.temperature or 0.0,
            numbers=conditions[cell],
        )
        for cell in sorted(conditions, key=_order)
    ]


def _places(found: Sequence[tuple[str, Level]], labels: Labels, runs: Sequence[str]) -> list[tuple[str, System]]:
    """The columns: equal systems beside one another, each in the order of the runs."""
    every = {(name, _system(level.cell)) for name, level in found}
    return sorted(every, key=lambda place: (labels.system(place[1]), runs.index(place[0])))


def _column(place: tuple[str, System], labels: Labels) -> Column:
    run, system = place
    return Column(run=run, label=labels.system(system), address=f"{run}/{' · '.join(system.parts)}")


def _system(cell: Cell) -> System:
    return cell.system or System(model="")


def _condition(cell: Cell, has_evidence: bool) -> Cell:
    """Where others have evidence, a system that does not search stands beside undisturbed ones, as in `compare`."""
    evidence = cell.perturbation or UNCHANGED if has_evidence else cell.perturbation
    return replace(cell, system=None, perturbation=evidence)


def _order(cell: Cell) -> tuple[str, bool, str, str, float]:
    """Undisturbed evidence first."""
    evidence = cell.perturbation or ""
    return cell.dataset or "", not cell.is_undisturbed, evidence, cell.variation or "", cell.temperature or 0.0


def _levels(run: Run) -> list[Level]:
    """Of all questions together."""
    with run.reading() as fresh:
        findings = fresh.findings().findings if fresh.has_current_findings() else ()
    results = [finding.result for finding in findings if isinstance(finding.result, Correctness)]
    return [level for result in results for level in result.levels if level.cell.group is None]
