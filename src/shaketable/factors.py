"""What stands on the table and what is measured: the one meaning of system, cell, main metric, unit and direction."""

from __future__ import annotations

import collections
import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from shaketable import catalog
from shaketable.errors import PartError, did_you_mean
from shaketable.protocols import DeclaredMetric, WrittenVariation
from shaketable.types import Measure, NotApplied, Study

Factor = Literal["dataset", "model", "method", "retriever", "perturbation", "variation", "temperature"]
FACTORS: tuple[Factor, ...] = (
    *("dataset", "model", "method", "retriever", "perturbation", "variation", "temperature"),
)
"""What a study crosses, by the names that studies, score tables and exports share."""
SYSTEM: tuple[Factor, ...] = ("model", "method", "retriever")
"""What makes a system."""
UNCHANGED = "unchanged"
"""The perturbation that leaves the evidence as it was found."""
ORIGINAL = "original"
"""The variation that leaves the wording as it was given."""
HUMAN = "human"
"""How answers that were made elsewhere name wordings by people."""


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class System:
    """The thing under test."""

    model: str
    method: str = ""
    """Empty: of all methods."""
    retriever: str | None = None
    """None: the method does not search."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The labels of what it is made of."""
        return tuple(part for part in (self.model, self.method, self.retriever) if part)


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """Where a number belongs. None: pooled over that factor, or the factor does not exist there."""

    dataset: str | None = None
    system: System | None = None
    variation: str | None = None
    perturbation: str | None = None
    temperature: float | None = None
    group: str | None = None
    """A type of question, as a tag names it: bridge, comparison, person ..."""

    @property
    def is_undisturbed(self) -> bool:
        """Whether the evidence is as it was found; so it is where nothing is searched."""
        return self.perturbation is None or self.perturbation == UNCHANGED


NAMING_SETTINGS = ("name", "model", "python", "http", "path")
"""Settings of a model that hold what people call it."""


def short_names(models: Iterable[str]) -> dict[str, str]:
    """Return what people call each model: `gpt-4o` for `openai(model='gpt-4o', base_url='…')`.

    Models that would share a name keep the text of the study.
    """
    known = dict.fromkeys(models)
    names = {model: short_name(model) for model in known}
    counts = collections.Counter(names.values())
    return {model: name if counts[name] == 1 else model for model, name in names.items()}


@functools.lru_cache(1024)
def short_name(model: str) -> str:
    """Return what people call a model, where no other model has to be told from it."""
    try:
        _, settings = catalog.parse(model)
    except PartError:  # Imported answers name their systems as they like.
        return model
    value = next((value for key in NAMING_SETTINGS if isinstance(value := settings.get(key), str) and value), None)
    if value is None:
        return model
    if {"name", "model"} & settings.keys():
        return value
    address = re.sub(r"^https?://", "", value)
    return address if address != value else Path(value).name or value


@dataclass(frozen=True, kw_only=True, slots=True)
class Labels:
    """How the systems of one run are named: by a name that was given to their model or method and is theirs alone; else
    by the model, and by whatever else of them differs within the run or was given a name."""

    differing: frozenset[Factor] = frozenset()
    """The factors that have several values in the run."""
    systems: frozenset[System] = frozenset()
    """Those of the run."""
    given: frozenset[str] = frozenset()
    """The names that were given to parts."""

    @classmethod
    def of(cls, table: pl.DataFrame, given: Iterable[str] = ()) -> Labels:
        """For a table with the columns of the factors, such as the scores of a run."""
        return cls(
            differing=frozenset(name for name in FACTORS if table[name].drop_nulls().n_unique() > 1),
            systems=frozenset(
                System(model=model, method=method or "", retriever=retriever)
                for model, method, retriever in table.select(SYSTEM).unique().iter_rows()
            ),
            given=frozenset(given),
        )

    @classmethod
    def of_cells(cls, cells: Iterable[Cell], given: Iterable[str] = ()) -> Labels:
        """For the cells of a result, or of the results of several runs."""
        known = list(cells)
        systems = [cell.system for cell in known if cell.system is not None]
        values: dict[Factor, set[str | float | None]] = {
            "dataset": {cell.dataset for cell in known},
            "model": {system.model for system in systems},
            "method": {system.method for system in systems},
            "retriever": {system.retriever for system in systems},
            "perturbation": {cell.perturbation for cell in known},
            "variation": {cell.variation for cell in known},
            "temperature": {cell.temperature for cell in known},
        }
        differing = frozenset(name for name, several in values.items() if len(several - {None}) > 1)
        return cls(differing=differing, systems=frozenset(systems), given=frozenset(given))

    def system(self, system: System | None) -> str:
        """`smollm2`, or `smollm2 · closed_book` where methods differ, or `prod` where that is its name."""
        if system is None:
            return "all systems"
        if name := next(filter(self._is_of_one, (system.model, system.method)), None):
            return name
        parts = (
            self._models.get(system.model, system.model),
            system.method if "method" in self.differing or system.method in self.given else "",
            system.retriever if "retriever" in self.differing or system.retriever in self.given else "",
        )
        return " · ".join(part for part in parts if part)

    @property
    def _models(self) -> dict[str, str]:
        return short_names(system.model for system in self.systems)

    def _is_of_one(self, part: str) -> bool:
        """Whether it is a given name, and one system's alone."""
        return part in self.given and sum(part in system.parts for system in self.systems) == 1

    def name(self, cell: Cell, *besides: Literal["dataset", "variation", "perturbation"]) -> str:
        """The system of a cell, and those of the other factors that differ within the run."""
        more = (getattr(cell, factor) for factor in besides if factor in self.differing)
        return " · ".join([self.system(cell.system), *(str(value) for value in more if value is not None)])


def given_names(study: Study) -> dict[str, str]:
    """Name that the study gives a part of its systems → how the part is written without it."""
    names: dict[str, str] = {}
    for text in (*study.models, *study.methods, *study.retrievers):
        try:
            part, settings = catalog.parse(text)
        except PartError:  # Answers that were made elsewhere name their systems as they like.
            continue
        if isinstance(name := settings.pop("name", None), str):
            names[name] = catalog.write(part, settings)
    return names


def is_applied(cell: Cell, not_applied: Iterable[NotApplied]) -> bool:
    """Whether temperature reached the system of a cell."""
    system = cell.system
    return system is None or all((flat.model, flat.method) != (system.model, system.method) for flat in not_applied)


def is_by_people(variation: str) -> bool:
    """Whether people wrote the wordings of a variation: its part says so."""
    part = _written(variation, catalog.registrations())
    # Answers that were made elsewhere name their variations as they like.
    return variation == HUMAN if part is None else part.by_people


def title_of_wordings(variation: str) -> str:
    """How a variation of written wordings wants to be named; empty: it is another, or has no wish."""
    part = _written(variation, catalog.registrations())
    return "" if part is None else part.title


@functools.cache
def _written(variation: str, registrations: int) -> WrittenVariation | None:
    try:
        part = catalog.build("variation", variation)
    except PartError:
        return None
    return part if isinstance(part, WrittenVariation) else None


def measure_of(name: str) -> Measure:
    """What a metric declares of its number. Scores from elsewhere are taken as better when higher."""
    declared = _declared(catalog.registrations()).get(_stem(name))
    return declared or Measure(name=name, unit=None, higher_is_better=True, minimum=None)


def numbers_of(metrics: Iterable[str]) -> tuple[str, ...]:
    """The names of the numbers that the metrics of a study give, in their order."""
    names: list[str] = []
    for i, text in enumerate(metrics):
        part = catalog.build("metric", text, f"score.metrics[{i}]")
        declared = (part.numbers if isinstance(part, DeclaredMetric) else ()) or (measure_of(catalog.name_of(part)),)
        names += [measure.name.format(**catalog.settings_of(part), part=part) for measure in declared]
    return tuple(dict.fromkeys(names))


def main_metric(names: Sequence[str], chosen: str | None = None) -> str | None:
    """The number that is spoken of: the one chosen, else the first of which more is better, else the first.

    None: there are no numbers.
    """
    if chosen is None:
        return next((name for name in names if measure_of(name).higher_is_better), next(iter(names), None))
    if chosen not in names:
        raise PartError(
            f"metric is '{chosen}', which these scores do not have.{did_you_mean(chosen, names)} "
            f"Scored numbers: {', '.join(names)}."
        )
    return chosen


def judging_metric(names: Sequence[str], chosen: str | None = None) -> str | None:
    """The number that tells right answers from wrong ones: the main one where it does, else the first; None: none."""
    main = main_metric(names, chosen)
    return next(filter(judges, (*filter(None, [main]), *names)), None)


def judges(name: str) -> bool:
    """Whether a number tells right answers from wrong ones: 1 is right, 0 is wrong."""
    measure = measure_of(name)
    return measure.unit == "share" and measure.higher_is_better is True


def word_for(name: str) -> str:
    """What people call a number: `correctness`; its own name where there is no other."""
    return measure_of(name).words or name


def title_of(name: str) -> str:
    """The same above a picture: `Correct answers`."""
    return measure_of(name).title or name


@functools.cache
def _declared(registrations: int) -> Mapping[str, Measure]:
    found: dict[str, Measure] = {}
    for name in catalog.known("metric"):
        metric = catalog.find("metric", name)
        if isinstance(metric, DeclaredMetric):
            for measure in metric.numbers:
                found.setdefault(_stem(measure.name), measure)
    return found


def _stem(name: str) -> str:
    """`recall@5` and `recall@{k}` are one number at two depths."""
    return name.partition("@")[0]
