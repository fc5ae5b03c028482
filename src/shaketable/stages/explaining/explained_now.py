"""The explanations of a run that still hold: of questions, accepted answers and a judge that have not changed since."""

from __future__ import annotations

from collections.abc import Sequence

from shaketable.errors import PartError
from shaketable.identity import digest
from shaketable.stages.explaining.judging import SAME_ANSWER, Judge
from shaketable.store import Run
from shaketable.store.explanation_file import load_explanations
from shaketable.store.explanations import Explanation


def current_explanations(run: Run) -> tuple[Explanation, ...]:
    stored = load_explanations(run.folder)
    if not stored:
        return ()
    try:
        judge = Judge(run.study, run.asked_metrics() or run.study.metrics)
    except PartError:  # A metric that there is no more.
        return ()
    questions = {question.id: question for question in run.store.questions()}
    return tuple(
        own
        for own in stored
        if own.question_id in questions
        and own.made_from
        == made_from(own.key, questions[own.question_id].answers, judge.identity if own.judged_by else SAME_ANSWER)
    )


def made_from(key: str, answers: Sequence[str], judge: str) -> str:
    return digest([key, answers, judge])
