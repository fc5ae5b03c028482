"""A case as the page shows it: its evidence as a diff, and its answers by temperature and evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from shaketable.report.case import Case, CaseAnswer
from shaketable.report.charts.few import few
from shaketable.report.shown_explanation import ShownExplanation, show_explanation
from shaketable.report.word_diff import Change, evidence_diff, new_order
from shaketable.report.words import name_evidence


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownAnswer:
    text: str
    correct: float | None
    tags: tuple[str, ...]
    failure: str | None
    n: int = 1
    """How often it came."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownCase:
    headline: str | None
    question: str
    wording: str
    gold: tuple[str, ...]
    evidence: str
    diff: tuple[tuple[Change, str], ...]
    order: str
    """`1 2 3 → 3 2 1` where passages only changed places; else nothing."""
    columns: tuple[str | None, ...]
    """Perturbations, the original first."""
    lines: tuple[tuple[float, tuple[tuple[ShownAnswer, ...], ...]], ...]
    """Temperatures, each with the answers of every column; none: it is shown for its explanation alone."""
    explanation: ShownExplanation | None = None


def show_case(case: Case) -> ShownCase:
    columns = sorted({answer.perturbation for answer in case.answers}, key=lambda name: name != "unchanged")
    temperatures = few(sorted({answer.temperature for answer in case.answers}))
    return ShownCase(
        headline=case.headline,
        question=case.question,
        wording=case.wording,
        gold=case.gold,
        evidence=name_evidence(case.perturbation),
        diff=tuple(evidence_diff(case.evidence_before, case.evidence_after)),
        order=new_order(case.evidence_before, case.evidence_after),
        columns=tuple(columns),
        lines=tuple(
            (temperature, tuple(_distinct(case.answers, temperature, column) for column in columns))
            for temperature in temperatures
        ),
        explanation=show_explanation(case.explanation) if case.explanation else None,
    )


def _distinct(answers: Sequence[CaseAnswer], temperature: float, perturbation: str | None) -> tuple[ShownAnswer, ...]:
    """Equal answers once, with how often they came."""
    counted = Counter(
        # A mark says right or wrong already; the tags beside it say how.
        (answer.text, answer.correct, tuple(tag for tag in answer.tags if tag != "wrong"), answer.failure)
        for answer in answers
        if answer.temperature == temperature and answer.perturbation == perturbation
    )
    return tuple(
        ShownAnswer(text=text, correct=correct, tags=tags, failure=failure, n=n)
        for (text, correct, tags, failure), n in counted.items()
    )
