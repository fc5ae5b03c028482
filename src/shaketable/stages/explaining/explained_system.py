"""The words of a user → one of the systems that a study makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shaketable.errors import UsageError, did_you_mean
from shaketable.factors import Cell, Labels, System, given_names
from shaketable.stages.plan import Condition
from shaketable.store import Run
from shaketable.types import Record


def system_of(condition: Condition) -> System:
    labels = condition.labels
    return System(model=labels["model"] or "", method=labels["method"] or "", retriever=labels["retriever"])


def labels_of(run: Run, conditions: Sequence[Condition]) -> Labels:
    cells = [Cell(system=system_of(condition)) for condition in conditions]
    return Labels.of_cells(cells, given_names(run.study))


def choose_system(run: Run, conditions: Sequence[Condition], text: str | None, record: Record | None) -> System:
    systems = list(dict.fromkeys(map(system_of, conditions)))
    if text is None and record is not None:
        trial = record.trial
        return System(model=trial.model, method=trial.method, retriever=trial.retriever)
    if text is None and len(systems) == 1:
        return systems[0]
    labels = labels_of(run, conditions)
    listed = ", ".join(f"'{labels.system(system)}'" for system in systems)
    if text is None:
        raise UsageError(f"{run.folder} has {len(systems)} systems: {listed}. Say which to ask: --system NAME.")
    by_name = _by_name(systems, labels)
    if len(named := by_name.get(text, [])) == 1:
        return named[0]
    if named:
        several = ", ".join(f"'{labels.system(system)}'" for system in named)
        raise UsageError(f"--system: '{text}' is of {len(named)} systems of {run.folder}: {several}. Name one.")
    raise UsageError(
        f"--system: {run.folder} has no system '{text}'.{did_you_mean(text, by_name)} Its systems: {listed}."
    )


def _by_name(systems: Sequence[System], labels: Labels) -> Mapping[str, list[System]]:
    """By label, or by any of its parts."""
    names: dict[str, list[System]] = {}
    for system in systems:
        for name in {labels.system(system), " · ".join(system.parts), *system.parts}:
            names.setdefault(name, []).append(system)
    return names
