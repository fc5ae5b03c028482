"""The verdicts that a study of this size can reach, known before anything is sent."""

from __future__ import annotations

import collections
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from shaketable import catalog
from shaketable.analyses.evidence.margins import POINTS
from shaketable.analyses.floors import N_LEAST
from shaketable.factors import ORIGINAL, UNCHANGED, main_metric, measure_of, numbers_of
from shaketable.stages.plan import Plan
from shaketable.statistics.ceilings import n_that_lose_nothing
from shaketable.statistics.family import detectable_effect, n_to_show
from shaketable.types import Unit

Verdict = Literal["comparison", "safe_temperature", "equivalence"]
CHANGED = 0.3
"""Share of the answers that differ between two conditions, as a guess for the spread of a drop."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reach:
    """Whether a study has the questions that a verdict needs."""

    verdict: Verdict
    n: int
    """Questions of the smallest group that the verdict is about."""
    n_needed: int
    """The fewest questions that allow the verdict, in the best case."""
    per_type: bool = False
    """Whether each type of question needs as many."""
    margin: float | None = None
    """The largest drop that the verdict allows, in the unit of the metric."""
    detectable: float | None = None
    """The smallest drop that 4 of 5 such studies confirm: of a share as a share, else in standard deviations of the
    differences between questions. None: nothing can be confirmed, or the verdict is not about a drop."""
    unit: Unit | None = None
    """Unit of the main metric; None: not known before the run."""
    n_comparisons: int = 1
    """Comparisons that are judged together."""

    @property
    def is_reachable(self) -> bool:
        return self.n >= self.n_needed


def reach_of(planned: Plan) -> tuple[Reach, ...]:
    """Return the verdicts that the study asks for, with the questions each needs.

    Empty for a study of facts, which learns only as it runs how many facts are known, and for a shake, which has a
    forecast of its own.
    """
    study = planned.study
    names = numbers_of(study.metrics)
    if study.scan is not None or study.shake is not None or not names or not planned.questions:
        return ()
    return tuple(_verdicts(planned, measure_of(main_metric(names, study.main_metric) or names[0]).unit))


def _verdicts(planned: Plan, unit: Unit | None) -> Iterator[Reach]:
    alpha = 1 - planned.study.confidence
    n = min(collections.Counter(question.dataset for question in planned.questions).values())
    n_comparisons = _n_comparisons(planned)
    if n_comparisons:
        n_needed = max(N_LEAST, n_to_show(alpha / n_comparisons))
        detectable = None if n < n_needed else _detectable(n, alpha / n_comparisons, unit)
        yield Reach(
            verdict="comparison",
            n=n,
            n_needed=n_needed,
            detectable=detectable,
            unit=unit,
            n_comparisons=n_comparisons,
        )
    if unit != "share":  # How many questions a margin in standard deviations needs depends on the answers.
        return
    if _temperatures(planned) > 1 and (margin := _margin(planned, "guidelines")):
        smallest, per_type = _smallest_type(planned)
        n_needed = max(N_LEAST, n_that_lose_nothing(margin, alpha))
        yield Reach(
            verdict="safe_temperature", n=smallest, n_needed=n_needed, per_type=per_type, margin=margin, unit=unit
        )
    if n_comparisons and (margin := _margin(planned, "equivalence")):
        n_needed = max(N_LEAST, n_that_lose_nothing(margin, alpha / n_comparisons))
        yield Reach(
            verdict="equivalence", n=n, n_needed=n_needed, margin=margin, unit=unit, n_comparisons=n_comparisons
        )


def _n_comparisons(planned: Plan) -> int:
    """Perturbations and paraphrases against the baseline, and temperatures against the lowest, of every system.

    Several temperatures of one comparison weigh two, as they do where claims are judged together.
    """
    perturbations: dict[tuple[str | None, str | None, str | None], set[str | None]] = {}
    temperatures: dict[tuple[str | None, str | None, str | None], int] = {}
    for condition in planned.conditions:
        labels = condition.labels
        system = labels["model"], labels["method"], labels["retriever"]
        perturbations.setdefault(system, set()).add(labels["perturbation"])
        temperatures[system] = len(planned.temperatures_of(condition))
    n_paraphrases = len(set(planned.study.variations) - {ORIGINAL}) if ORIGINAL in planned.study.variations else 0
    n = 0
    for system, evidence in perturbations.items():
        n_perturbed = len(evidence - {UNCHANGED, None}) if UNCHANGED in evidence else 0
        is_heated = temperatures[system] > 1
        n += (n_perturbed + n_paraphrases) * (2 if is_heated else 1) + is_heated
    return n * len({question.dataset for question in planned.questions})


def _detectable(n: int, alpha: float, unit: Unit | None) -> float | None:
    if unit != "share":
        return detectable_effect(1 / math.sqrt(n), alpha)
    # The differences of whole answers have the variance c − d², where a share c changes and d is the drop. Solved for d
    # with c = CHANGED, or c = d where the drop is larger.
    squared = detectable_effect(1.0, alpha) ** 2
    ratio = squared / (n + squared)
    return ratio if ratio > CHANGED else math.sqrt(CHANGED * ratio)


def _temperatures(planned: Plan) -> int:
    return max(len(planned.temperatures_of(condition)) for condition in planned.conditions)


def _margin(planned: Plan, analysis: str) -> float | None:
    """The margin of an analysis that the study asks for; None: it does not, or the margin depends on the answers."""
    for text in planned.study.analyses:
        name, settings = catalog.parse(text)
        if name == analysis:
            margin = settings.get("margin", planned.study.margin)
            margin = POINTS if margin is None else margin
            return float(margin) if isinstance(margin, int | float) and 0 < margin < 1 else None
    return None


def _smallest_type(planned: Plan) -> tuple[int, bool]:
    """Questions of the smallest group that a highest safe temperature needs, and whether groups are types.

    A type with too few questions for any conclusion is judged with the others together.
    """
    smallest: list[tuple[int, bool]] = []
    for dataset in {question.dataset for question in planned.questions}:
        own = [question.tags.get("type") for question in planned.questions if question.dataset == dataset]
        enough = [n for name, n in collections.Counter(map(str, own)).items() if name != "None" and n >= N_LEAST]
        smallest.append((min(enough), True) if enough else (len(own), False))
    return min(smallest)
