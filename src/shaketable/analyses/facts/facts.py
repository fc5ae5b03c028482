"""Facts as analyses of factual robustness see them: one per system and question, with its scan and its curve."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from shaketable.analyses.rows import Located
from shaketable.factors import Cell
from shaketable.statistics.intervals import Bootstrap, Numbers
from shaketable.types import Curve, Estimate, Unit

LABELS = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
"""Types of question; the metric `question_type` gives places in this list."""
SomeLocated = TypeVar("SomeLocated", bound=Located)


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """One question to one system."""

    question_id: str
    dataset: str
    key: str | None
    """Of the record at temperature 0; None: there is none."""
    type: str | None
    """One of LABELS; None: not known."""
    is_known: bool | None
    """Whether the answer at temperature 0 was right; None: it has no score."""
    entropy: float | None
    margin: float | None
    n_tokens: float | None
    """These three of the answer at temperature 0."""
    is_scanned: bool = False
    """Whether the study's scan took it; a curve alone does not make a scan, unless the study samples nothing."""
    tried: frozenset[float] = frozenset()
    """Temperatures above 0 at which it was asked, failed answers included."""
    accuracies: Mapping[float, float] = field(default_factory=dict)
    """Share of correct answers at each of them that has an answer."""
    hottest: float | None = None
    """Of the study; None: it samples nothing above 0."""
    curve: Curve | None = None
    no_curve: str | None = None
    """Why a curve that was asked for could not be estimated."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts(Located):
    """What one system was asked of one dataset, or of all. A dataset of None: several, pooled."""

    asked: tuple[Fact, ...]
    """By question id, ascending."""

    @property
    def known(self) -> tuple[Fact, ...]:
        """Right at temperature 0, and scanned."""
        return tuple(fact for fact in self.asked if fact.is_known and fact.is_scanned)


def pool_datasets(every: Sequence[Facts]) -> list[Facts]:
    """One for each system over all its datasets, under the name of the dataset where there is only one."""
    systems: dict[Cell, list[Facts]] = {}
    for facts in every:
        systems.setdefault(replace(facts.cell, dataset=None), []).append(facts)
    return [
        of_system[0]
        if len(of_system) == 1
        else Facts(cell=cell, asked=tuple(fact for facts in of_system for fact in facts.asked))
        for cell, of_system in systems.items()
    ]


def each_and_pooled(every: Sequence[Facts]) -> Iterator[Facts]:
    """Each system on each dataset, and then on all where there are several."""
    yield from every
    yield from (facts for facts in pool_datasets(every) if facts.cell.dataset is None)


def over_all_datasets(values: Iterable[SomeLocated]) -> list[SomeLocated]:
    """Those over all datasets of a system, or over its only one."""
    every = list(values)
    pooled = {_system(value.cell) for value in every if value.cell.dataset is None}
    return [value for value in every if value.cell.dataset is None or _system(value.cell) not in pooled]


def _system(cell: Cell) -> Cell:
    return replace(cell, dataset=None, temperature=None, group=None)


def ids(facts: Iterable[Fact]) -> list[str]:
    """Names that stay different when datasets are pooled."""
    return [f"{fact.dataset}/{fact.question_id}" for fact in facts]


def numbers(values: Iterable[float | None]) -> Numbers:
    """NaN where there is none."""
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def share(is_true: bool | None) -> float | None:
    return None if is_true is None else float(is_true)


def estimate_mean(
    values: Iterable[float | None], facts: Sequence[Fact], bootstrap: Bootstrap, *, unit: Unit = "score"
) -> Estimate:
    """Over the facts that have a value."""
    (estimate,) = bootstrap.means(numbers(values)[None], ids(facts), unit=unit)
    return estimate
