"""Systems whose weakness is known, shaken by the source and judged by the analysis that a real run has."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from shaketable import catalog
from shaketable.analyses.shakes import Shaken
from shaketable.analyses.tables import Tables
from shaketable.analyses.together.shaken import shaken
from shaketable.factors import Cell
from shaketable.identity import canonical
from shaketable.stages.plan import Condition, Plan
from shaketable.stages.shaking.source import Shaken as ShakenSource
from shaketable.types import (
    Answer,
    DatasetChoice,
    Question,
    Record,
    Shake,
    Study,
    Trial,
    Variant,
)

Weakness = Literal["one wording", "one kind of evidence", "hot only", "one wording, hot only", "none"]
WORDINGS = ("spelling", "disfluency", "keywords", "imperative", "non_native")
EVIDENCE = ("sentence_removal", "sentence_replacement", "entity_masking")
TEMPERATURES = (0.0, 0.7, 1.2)
N_CELLS = (1 + len(WORDINGS)) * (1 + len(EVIDENCE)) * len(TEMPERATURES)
KNOWN, RIGHT, LUCKY = 0.8, 0.95, 0.1
"""Of the questions, 80 % are known; a known one is answered right in 95 %, another in 10 % of the calls, whatever the
wording, evidence or temperature: so accuracy is 78 % where there is no weakness."""


@dataclass(frozen=True, kw_only=True)
class System:
    """Answers at once."""

    weakness: Weakness
    broken: float
    """Accuracy where it is weak."""
    seed: int

    def is_weak(self, cell: Cell) -> bool:
        worded = cell.variation == "disfluency"
        hot = cell.temperature == TEMPERATURES[-1]
        return {
            "one wording": worded,
            "one kind of evidence": cell.perturbation == "entity_masking",
            "hot only": hot,
            "one wording, hot only": worded and hot,
            "none": False,
        }[self.weakness]

    def right_chance(self, trial: Trial, *, is_known: bool) -> float:
        if not is_known:
            return LUCKY
        cell = Cell(variation=trial.variant.variation, perturbation=trial.perturbation, temperature=trial.temperature)
        return (self.broken - (1 - KNOWN) * LUCKY) / KNOWN if self.is_weak(cell) else RIGHT


@functools.cache
def plan_of(n_questions: int) -> Plan:
    """All levels crossed; nothing is loaded."""
    study = Study(
        name="planted",
        seed=0,
        datasets=(DatasetChoice(name="builtin"),),
        models=("scripted",),
        methods=("single_retrieval",),
        retrievers=("gold",),
        perturbations=("unchanged", *EVIDENCE),
        variations=("original", *WORDINGS),
        temperatures=TEMPERATURES,
        repeats=2,
        generation={"max_tokens": 16},
        metrics=("contains",),
        analyses=("shaken",),
        shake=Shake(),
    )
    questions = [Question(id=f"q{i}", text=f"Which is number {i}?", answers=("yes it is",)) for i in range(n_questions)]
    model, method = catalog.build("model", "scripted"), catalog.build("method", "single_retrieval")
    conditions = [
        Condition(
            model=model,
            method=method,
            retriever=catalog.build("retriever", "gold"),
            perturbation=catalog.build("perturbation", name),
            generation=canonical(study.generation),
            seed=study.seed,
        )
        for name in study.perturbations
    ]
    variants = [
        Variant(question_id=question.id, text=f"{name}: {question.text}", variation=name)
        for question in questions
        for name in study.variations
    ]
    return Plan(study=study, questions=tuple(questions), variants=tuple(variants), conditions=tuple(conditions))


def third(n_questions: int) -> int:
    """Of the calls of the full design, in which every question is asked once in every combination."""
    return N_CELLS * n_questions // 3


def shake(system: System, n_questions: int, n_calls: int) -> Shaken:
    """A whole run, less the store: the source asks, the system answers, the analysis judges."""
    plan = plan_of(n_questions)
    rng = np.random.default_rng((system.seed, n_questions))
    known = {question.id: bool(rng.random() < KNOWN) for question in plan.questions}
    source = ShakenSource(plan, plan.conditions, {}, lambda: n_calls)
    records: list[Record] = []
    while taken := source.take(min(64, n_calls - len(records))):
        for trial, _ in rng.permutation(np.array(taken, dtype=object)):  # Replies come in any order.
            is_right = rng.random() < system.right_chance(trial, is_known=known[trial.question_id])
            text = "yes it is" if is_right else "not this one"
            record = Record(trial=trial, answer=Answer(text=text))
            records.append(record)
            source.done(record)
    return shaken(Tables(scores=_scores(records)))


def finds(system: System, result: Shaken) -> bool:
    """Whether a planted weakness is named: a way to ask that has it."""
    return any(arm.is_shown and system.is_weak(arm.cell) for arm in result.arms)


def accuses(system: System, result: Shaken) -> bool:
    """Whether a way to ask is named in which nothing is weak."""
    return any(arm.is_shown and not system.is_weak(arm.cell) for arm in result.arms)


def _scores(records: list[Record]) -> pl.DataFrame:
    trials = [record.trial for record in records]
    return pl.DataFrame(
        {
            "question_id": [trial.question_id for trial in trials],
            "dataset": "builtin",
            "model": [trial.model for trial in trials],
            "method": [trial.method for trial in trials],
            "retriever": [trial.retriever for trial in trials],
            "variation": [trial.variant.variation for trial in trials],
            "perturbation": [trial.perturbation for trial in trials],
            "temperature": [trial.temperature for trial in trials],
            "repeat": [trial.repeat for trial in trials],
            "key": [trial.key for trial in trials],
            "metric": "contains",
            "value": [float(record.answer is not None and record.answer.text.startswith("yes")) for record in records],
        }
    )
