"""What text metrics share: which texts count as right, and what a record without an answer scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from shaketable.types import Answer, Question, Record, Score

NO_GOLD = "no accepted answer"
GREEDY_ONLY = "kept at temperature 0 alone"
"""Why a hot answer has no number that only the greedy one is asked for; nothing is missing then."""
GIVEN_SCORES = "given_scores"
"""The note of an imported answer with the numbers that it was given elsewhere, by their names."""


def references(question: Question) -> tuple[str, ...]:
    """The texts an answer is compared with: the sentence-form reference, else the accepted short answers. An empty cell
    of a table is no reference: every answer would score 0."""
    return (question.reference,) if question.reference and question.reference.strip() else question.answers


def accepted(question: Question, *, aliases: bool) -> tuple[str, ...]:
    """The accepted answers, or the canonical one alone; all of them where the dataset does not tell which it is."""
    if aliases or question.tags.get("canonical") is False:
        return question.answers
    return question.answers[:1]


def unscored(record: Record, golds: Sequence[str] | None = None) -> str | None:
    """Why a record has no number; None: it can be scored. A metric that needs no golds gives None for them."""
    if record.answer is None:
        return f"failed: {record.failure.kind if record.failure else 'unknown'}"
    return NO_GOLD if golds is not None and not golds else None


def score_each(
    metric: str,
    records: Sequence[Record],
    questions: Mapping[str, Question],
    judge: Callable[[Answer, Question], float],
    *,
    needs_answers: bool,
) -> list[list[Score]]:
    """One number per record, judged alone; None with the reason where there is nothing to judge."""
    scored: list[list[Score]] = []
    for record in records:
        question = questions[record.trial.question_id]
        reason = unscored(record, question.answers if needs_answers else None)
        value = None if reason or record.answer is None else judge(record.answer, question)
        scored.append([Score(key=record.trial.key, metric=metric, value=value, reason=reason)])
    return scored
