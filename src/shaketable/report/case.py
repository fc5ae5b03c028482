"""A question in full: its evidence before and after a disturbance, and every answer."""

from __future__ import annotations

from dataclasses import dataclass

from shaketable.store.examples import Example


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseAnswer:
    temperature: float
    perturbation: str | None
    text: str
    correct: float | None
    """1: right, 0: wrong; None: not scored."""
    failure: str | None = None
    """Its kind; None: it was answered."""
    tags: tuple[str, ...] = ()
    """How the answer fails."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    question: str
    wording: str
    gold: tuple[str, ...]
    evidence_before: str
    evidence_after: str
    perturbation: str
    answers: tuple[CaseAnswer, ...]
    headline: str | None = None
    """What the disturbance took; None: the case speaks for itself."""


def case_of(example: Example) -> Case:
    return Case(
        question=example.question,
        wording=example.wording,
        gold=example.gold,
        evidence_before=example.evidence_before,
        evidence_after=example.evidence_after,
        perturbation=example.perturbation,
        answers=tuple(
            CaseAnswer(
                temperature=answer.temperature,
                perturbation=answer.perturbation,
                text=answer.text,
                correct=answer.correct,
            )
            for answer in example.answers
        ),
    )
