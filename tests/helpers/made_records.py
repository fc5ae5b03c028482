"""Records and questions in one line each."""

from __future__ import annotations

from typing import Any

from shaketable.types import Answer, Failure, Question, Record, Score, Trial, Variant

QUESTION = Question(id="q", text="Who did it?", answers=("Ann Lee",))


def record(text: str | None, question: Question = QUESTION, key: str = "k", abstained: bool = False) -> Record:
    """A finished trial with this answer; None: a trial that timed out."""
    trial = Trial(
        key=key,
        question_id=question.id,
        variant=Variant(question_id=question.id, text=question.text, variation="original"),
        method="closed_book",
        retriever=None,
        perturbation=None,
        model="scripted",
        temperature=0.0,
        repeat=0,
        seed=0,
    )
    if text is None:
        failure = Failure(kind="timeout", message="60 s", step="generate", may_retry=True)
        return Record(trial=trial, answer=None, failure=failure)
    return Record(trial=trial, answer=Answer(text=text, abstained=abstained))


def scores(metric: Any, text: str | None, *answers: str, reference: str | None = None) -> dict[str, Score]:
    """Score one answer text against these accepted answers, by the name of the number."""
    question = Question(id="q", text="Who did it?", answers=answers, reference=reference)
    (found,) = metric.score([record(text)], {"q": question})
    return {score.metric: score for score in found}


def value(metric: Any, text: str | None, *answers: str, reference: str | None = None) -> float | None:
    """The only number of a metric."""
    (score,) = scores(metric, text, *answers, reference=reference).values()
    return score.value
