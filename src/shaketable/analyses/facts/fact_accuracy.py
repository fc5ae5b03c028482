"""How does accuracy on facts that a model knows fall with temperature?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from shaketable.analyses.facts.fact_table import judges, read_facts
from shaketable.analyses.facts.facts import Fact, Facts, each_and_pooled, ids, numbers, share
from shaketable.analyses.facts.reading import settle_scan
from shaketable.analyses.rows import Measured
from shaketable.analyses.tables import Tables
from shaketable.statistics.intervals import Bootstrap
from shaketable.types import Estimate

Source = Literal["sampled", "curve"]
"""Answers, or the curves that the model's logits give of the same facts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Accuracy(Measured):
    """Of the known facts at one temperature."""

    source: Source
    share: Estimate
    n_known: int
    is_partial: bool
    """Whether some of them were not tried here, because the scan left them when they broke."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FactAccuracy:
    """How does accuracy on facts that a model knows fall with temperature?"""

    accuracies: tuple[Accuracy, ...]
    """Of each system and dataset (None: all), samples before curves, from cool to hot."""
    known: str | None
    correct: str


def fact_accuracy(tables: Tables, *, known: str | None = None, correct: str | None = None) -> FactAccuracy:
    """Mean accuracy of known facts at each temperature, with bootstrap intervals over questions."""
    scan = settle_scan(tables.scan, known=known, correct=correct)
    return FactAccuracy(
        accuracies=tuple(
            accuracy
            for facts in each_and_pooled(read_facts(tables, scan))
            for accuracy in _accuracies(facts, judges(scan)[1], tables.bootstrap)
        ),
        known=scan.known,
        correct=scan.correct,
    )


def _accuracies(facts: Facts, correct: str, bootstrap: Bootstrap) -> list[Accuracy]:
    known = facts.known
    accuracies: list[Accuracy] = []
    sources: dict[Source, list[float]] = {"sampled": _tried(known), "curve": _on_curves(known)}
    for source, temperatures in sources.items():
        if not temperatures:
            continue
        values = np.stack([numbers(_accuracy(fact, source, t) for fact in known) for t in temperatures])
        accuracies += [
            Accuracy(
                cell=replace(facts.cell, temperature=temperature),
                metric=correct,
                source=source,
                share=estimate,
                n_known=len(known),
                is_partial=_is_partial(known, source, temperature),
            )
            for temperature, estimate in zip(
                temperatures, bootstrap.means(values, ids(known), unit="share"), strict=True
            )
        ]
    return accuracies


def _tried(known: Sequence[Fact]) -> list[float]:
    """All temperatures of the scan, after 0, at which known facts are right by definition."""
    tried = sorted({temperature for fact in known for temperature in fact.accuracies})
    return [0.0, *tried] if tried else []


def _on_curves(known: Sequence[Fact]) -> list[float]:
    return sorted({temperature for fact in known if fact.curve for temperature in fact.curve.temperatures})


def _accuracy(fact: Fact, source: Source, temperature: float) -> float | None:
    if source == "sampled":
        return share(fact.is_known) if temperature == 0 else fact.accuracies.get(temperature)
    if fact.curve is None or temperature not in fact.curve.temperatures:
        return None
    return fact.curve.value[fact.curve.temperatures.index(temperature)]


def _is_partial(known: Sequence[Fact], source: Source, temperature: float) -> bool:
    """Failed answers are missing by chance, and leave a temperature whole."""
    if source == "sampled":
        return temperature > 0 and not all(temperature in fact.tried for fact in known)
    return any(_accuracy(fact, source, temperature) is None for fact in known)
