"""A question in full: its evidence before and after a disturbance, and every answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from shaketable.factors import System
from shaketable.store.examples import Example
from shaketable.store.explanations import Explanation


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
    question_id: str = ""
    system: System | None = None
    explanation: Explanation | None = None
    """What turns the answer; None: nobody asked."""


def case_of(example: Example) -> Case:
    return Case(
        question=example.question,
        wording=example.wording,
        gold=example.gold,
        evidence_before=example.evidence_before,
        evidence_after=example.evidence_after,
        perturbation=example.perturbation,
        question_id=example.question_id,
        system=example.system,
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


def explain_cases(cases: Sequence[Case], explanations: Sequence[Explanation]) -> list[Case]:
    """The same with what turns their answers; what was explained comes first, also where it was no case."""
    newest = {(own.question_id, own.system): own for own in explanations}
    explained, others = [], []
    for case in cases:
        own = newest.pop((case.question_id, case.system), None) if case.system is not None else None
        if own is None:
            others.append(case)
        else:
            explained.append(replace(case, explanation=own))
    return [*explained, *map(_case_of, newest.values()), *others]


def _case_of(explanation: Explanation) -> Case:
    """A question that is shown for its explanation alone."""
    evidence = " ".join(sentence.text for sentence in explanation.sentences)
    return Case(
        question=explanation.question,
        wording=explanation.wording,
        gold=explanation.gold,
        evidence_before=evidence,
        evidence_after=evidence,
        perturbation=explanation.perturbation or "",
        answers=(),
        question_id=explanation.question_id,
        system=explanation.system,
        explanation=explanation,
    )
