"""The words of a user → the trial that is explained: a question, a system, a wording and its evidence."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from shaketable import catalog
from shaketable.errors import UsageError
from shaketable.factors import ORIGINAL, UNCHANGED, System
from shaketable.stages.explaining.explained_system import choose_system, labels_of, system_of
from shaketable.stages.plan import Condition, Plan, conditions_of
from shaketable.stages.reference import made_by
from shaketable.store import Run
from shaketable.types import Question, Record, Trial, Variant

N_LISTED = 5
LEAST_OF_A_KEY = 6
"""Characters of a record's key that are taken for one."""


@dataclass(frozen=True, kw_only=True)
class ExplainedTrial:
    plan: Plan
    """Of this question alone."""
    question: Question
    condition: Condition
    trial: Trial
    system: System
    name: str
    """Of the system, within the run."""
    stored: Record | None
    """What the run has of it; None: it did not ask this, or a part or prompt changed since."""


def find_trial(run: Run, text: str, system: str | None = None) -> ExplainedTrial:
    """By a question's id, a record's key or its beginning, or a part of the question's text."""
    _refuse_unusable(run)
    record = _record(run, text)
    questions = run.store.questions(made_by(run.study))
    wanted = text if record is None else record.trial.question_id
    question = _question(run, wanted, questions)
    conditions = conditions_of(run.study)
    chosen = choose_system(run, conditions, system, record)
    condition = _condition(conditions, chosen, record)
    variants = run.store.variants(question.id)
    plan = Plan(study=run.study, questions=(question,), variants=variants, conditions=(condition,))
    variant = record.trial.variant if record else _original(question, variants)
    condition = plan.suited(variant, condition)
    coolest = 0.0 if run.study.scan is not None else min(plan.temperatures_of(condition))
    trial = plan.trial(variant, condition, coolest, 0)
    return ExplainedTrial(
        plan=plan,
        question=question,
        condition=condition,
        trial=trial,
        system=chosen,
        name=labels_of(run, conditions).system(chosen),
        stored=run.store.record(trial.key),
    )


def _refuse_unusable(run: Run) -> None:
    if any(choice.name == "imported" for choice in run.study.datasets):
        raise UsageError(
            f"{run.folder} holds answers that were made elsewhere, so there is no system here to ask again. Explain a "
            "run of `shaketable run`."
        )
    summary = run.summary()
    if not summary.is_finished:
        raise UsageError(
            f"{run.folder} is not finished: {summary.done + summary.failed:,} of {summary.trials:,} trials are "
            f"answered. Go on with it first: shaketable run {run.folder}."
        )


def _record(run: Run, text: str) -> Record | None:
    """The record whose key begins so; a question's id goes before."""
    if run.store.question(text) is not None or len(text) < LEAST_OF_A_KEY or set(text) - set("0123456789abcdef"):
        return None
    keys = run.store.keys_beginning(text, limit=2)
    if len(keys) > 1:
        raise UsageError(f"{run.folder} has more than one record whose key begins with '{text}'. Give more of it.")
    return run.store.record(keys[0]) if keys else None


def _question(run: Run, text: str, questions: Sequence[Question]) -> Question:
    by_id = {question.id: question for question in questions}
    if text in by_id:
        return by_id[text]
    words = " ".join(text.casefold().split())
    matching = [question for question in questions if words and words in " ".join(question.text.casefold().split())]
    if len(matching) == 1:
        return matching[0]
    if matching:
        more = f", and {len(matching) - N_LISTED} more" if len(matching) > N_LISTED else ""
        listed = "; ".join(_told(question) for question in matching[:N_LISTED])
        raise UsageError(
            f"'{text}' is in {len(matching)} questions of {run.folder}: {listed}{more}. Give an id, or more of the "
            "text."
        )
    near = _nearest(text, questions)
    raise UsageError(
        f"{run.folder} has no question '{text}': no id, no key of a record, and no part of a question's text. "
        f"Nearest: {'; '.join(map(_told, near))}."
    )


def _nearest(text: str, questions: Sequence[Question]) -> list[Question]:
    """By id or text, the most alike first."""

    def alike(question: Question) -> float:
        return max(
            difflib.SequenceMatcher(None, text.casefold(), other.casefold()).ratio()
            for other in (question.id, question.text)
        )

    return sorted(questions, key=alike, reverse=True)[:3]


def _told(question: Question) -> str:
    text = question.text if len(question.text) <= 80 else f"{question.text[:79]}…"
    return f"{question.id} ({text})"


def _condition(conditions: Sequence[Condition], system: System, record: Record | None) -> Condition:
    """With the evidence as it is found, or disturbed as in the record."""
    own = [condition for condition in conditions if system_of(condition) == system]
    if not own:
        raise UsageError(
            f"The study of this run does not make the system {' · '.join(system.parts)} any more. Explain a new run."
        )
    wanted = record.trial.perturbation if record else UNCHANGED
    exact = next((condition for condition in own if condition.labels["perturbation"] in (wanted, None)), None)
    return exact or replace(own[0], perturbation=catalog.build("perturbation", UNCHANGED))


def _original(question: Question, variants: Sequence[Variant]) -> Variant:
    """The run's own, with whatever was said before it."""
    stored = (variant for variant in variants if variant.variation == ORIGINAL and variant.rejected is None)
    return next(stored, Variant(question_id=question.id, text=question.text, variation=ORIGINAL))
