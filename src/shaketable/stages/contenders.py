"""Which systems are compared with which, and how they are named."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from shaketable import catalog
from shaketable.analyses.compared import Contender
from shaketable.analyses.pairs import systems_in
from shaketable.errors import ShaketableError, UsageError, did_you_mean
from shaketable.factors import Labels, System, given_names
from shaketable.store import Run

Pairing = tuple[Contender, Contender]


@dataclass(frozen=True, kw_only=True)
class Entrant:
    """A run with its scores."""

    run: Run
    scores: pl.DataFrame

    @functools.cached_property
    def systems(self) -> list[System]:
        """In the order of the study."""
        study = self.run.study
        orders = [_labels("model", study.models), _labels("method", study.methods)]

        def place(system: System) -> list[int]:
            pairs = zip(orders, (system.model, system.method), strict=True)
            return [order.index(part) if part in order else len(order) for order, part in pairs]

        return sorted(systems_in(self.scores), key=place)

    def label(self, system: System) -> str:
        return Labels.of(self.scores, given_names(self.run.study)).system(system)

    def find(self, text: str) -> System:
        """By its label, or by any of its parts that no other system has."""
        by_name = _by_name(self)
        found = by_name.get(text, [])
        if len(found) == 1:
            return found[0]
        several = ", ".join(f"'{self.label(system)}'" for system in found or self.systems)
        if found:
            raise UsageError(
                f"--systems: '{text}' is of {len(found)} systems of {self.run.folder}: {several}. Name one."
            )
        hint = did_you_mean(text, by_name)
        raise UsageError(f"--systems: {self.run.folder} has no system '{text}'.{hint} Its systems: {several}.")


def pair_up(first: Entrant, second: Entrant | None, names: tuple[str, str] | None) -> list[Pairing]:
    """Those that are named; else the two of one run, or those that two runs share; else the only one of each."""
    if names is not None:
        other = second or first
        chosen = [(first.find(names[0]), other.find(names[1]))]
        if second is None and chosen[0][0] == chosen[0][1]:
            raise UsageError(f"--systems: '{names[0]}' and '{names[1]}' are the same system. Name two.")
        return [_pairing(first, other, *systems) for systems in chosen]
    if second is None:
        return [_pairing(first, first, *_only_two(first))]
    shared = [system for system in first.systems if system in second.systems]
    if not shared and len(first.systems) == len(second.systems) == 1:
        return [_pairing(first, second, first.systems[0], second.systems[0])]
    if not shared:
        raise UsageError(
            f"{first.run.folder} and {second.run.folder} have no system in common. The first has {_list(first)}, the "
            f"second {_list(second)}. Say which to compare: --systems A B, one of each."
        )
    return [_pairing(first, second, system, system) for system in shared]


def _only_two(entrant: Entrant) -> tuple[System, System]:
    systems = entrant.systems
    if len(systems) == 2:
        return systems[0], systems[1]
    if len(systems) < 2:
        raise UsageError(
            f"{entrant.run.folder} has {'one system' if systems else 'no scored answer'}, so there is nothing to "
            "compare it with. Name a second run: shaketable compare A B."
        )
    raise UsageError(
        f"{entrant.run.folder} has {len(systems)} systems: {_list(entrant)}. Say which two to compare: --systems A B."
    )


def _labels(kind: str, texts: Sequence[str]) -> list[str]:
    """As records have them; parts that cannot be built here, such as those of imported answers, have their texts."""
    labels = []
    for text in texts:
        try:
            labels.append(catalog.label(catalog.build(kind, text)))
        except (ShaketableError, OSError):
            labels.append(text)
    return labels


def _list(entrant: Entrant) -> str:
    return ", ".join(f"'{entrant.label(system)}'" for system in entrant.systems)


def _by_name(entrant: Entrant) -> Mapping[str, Sequence[System]]:
    found: dict[str, list[System]] = {}
    for system in entrant.systems:
        parts = [part for part in (system.model, system.method, system.retriever) if part]
        for name in {entrant.label(system), " · ".join(parts), *parts}:
            found.setdefault(name, []).append(system)
    return found


def _pairing(first: Entrant, second: Entrant, one: System, other: System) -> Pairing:
    names = _names(first.run, second.run, one, other)
    made = [
        Contender(
            name=name,
            run=str(entrant.run.folder),
            study=entrant.run.study.name,
            system=system,
            label=entrant.label(system),
        )
        for name, entrant, system in zip(names, (first, second), (one, other), strict=True)
    ]
    return made[0], made[1]


def _names(first: Run, second: Run, one: System, other: System) -> tuple[str, str]:
    """What differs between the systems; of equal ones the names of their runs, as short as tells them apart."""
    parts = [(one.model, other.model), (one.method, other.method)]
    differing = [pair for pair in parts if pair[0] != pair[1]]
    if differing:
        return " · ".join(pair[0] for pair in differing), " · ".join(pair[1] for pair in differing)
    if one != other:
        return one.retriever or "no retriever", other.retriever or "no retriever"
    here, there = first.folder.resolve().parts, second.folder.resolve().parts
    for n in range(1, max(len(here), len(there))):
        if here[-n:] != there[-n:]:
            return "/".join(here[-n:]), "/".join(there[-n:])
    return f"{here[-1]} (first)", f"{there[-1]} (second)"
