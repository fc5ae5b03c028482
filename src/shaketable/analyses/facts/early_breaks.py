"""How often a sampled scan declares facts broken before their curve breaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shaketable.analyses.facts.breaking_rule import BreakingRule
from shaketable.analyses.facts.facts import Fact, Facts, ids
from shaketable.analyses.rows import Located
from shaketable.facts.score import chances_of_breaking, is_broken
from shaketable.statistics.intervals import Bootstrap
from shaketable.types import Estimate


@dataclass(frozen=True, kw_only=True, slots=True)
class TooEarly(Located):
    """Facts whose sampled scan broke below the grid temperature at which the curve does."""

    share: Estimate
    expected: Estimate | None
    """What as many answers at each temperature would give by chance; None: their number varies."""


def count_early_breaks(facts: Facts, rule: BreakingRule, repeats: int | None, bootstrap: Bootstrap) -> TooEarly | None:
    """For facts that have a scan, and a curve that is known at every temperature of the study up to its break.

    None: there are none. `repeats` is the number of answers at each temperature; None: it varies.
    """
    grid = sorted({t for fact in facts.known for t in fact.accuracies})
    used: list[Fact] = []
    early, chances = [], []
    for fact in facts.known:
        holds = _holds_at(fact, grid, rule)
        if holds is not None and fact.accuracies and rule.is_decided(fact):
            at = rule.capped(fact)
            used.append(fact)
            early.append(float(at is not None and grid.index(at) < len(holds)))
            chances.append(_chance(holds, rule, repeats or 1))
    if not used:
        return None
    share, expected = bootstrap.means(np.array([early, chances]), ids(used), unit="share")
    return TooEarly(cell=facts.cell, share=share, expected=None if repeats is None else expected)


def _chance(holds: Sequence[float], rule: BreakingRule, repeats: int) -> float:
    *chances, _ = chances_of_breaking(holds, n=repeats, threshold=rule.threshold, inclusive=rule.inclusive)
    return sum(chances)


def _holds_at(fact: Fact, grid: Sequence[float], rule: BreakingRule) -> list[float] | None:
    """What the curve says at the temperatures below its own break; None where it cannot say."""
    if fact.curve is None:
        return None
    at = {round(t, 6): value for t, value in zip(fact.curve.temperatures, fact.curve.value, strict=True)}
    holds = []
    for t in grid:
        value = at.get(round(t, 6))
        if value is None:
            return None
        if is_broken(value, threshold=rule.threshold, inclusive=rule.inclusive):
            break
        holds.append(value)
    return holds
