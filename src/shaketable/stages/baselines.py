"""Clean answers → what they score as answers to other questions: a number that knows nothing of its question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from shaketable.identity import seed_from
from shaketable.protocols import DeclaredMetric, JudgingMetric, Metric, TraceChoosingMetric
from shaketable.text.normalization import YES_NO
from shaketable.types import Question, Record, Score


def score_baselines(
    metrics: Sequence[Metric], swapped: Sequence[Record], questions: Mapping[str, Question]
) -> list[Score]:
    """One number per question and system, in its clean case: the original evidence at the coolest temperature.

    `swapped` are those records, each with the answer to another question. By metrics that compare an answer with what
    is accepted. Judges are not asked: each verdict would be paid for.
    """
    return [
        score
        for metric in metrics
        if (better := _more_is_better(metric))
        for scores in metric.score(swapped, questions)
        for score in scores
        if score.metric in better
    ]


def swap_answers(records: Iterable[Record], questions: Mapping[str, Question]) -> list[Record]:
    """Each record with the answer that its system gave to another question of the dataset, asked in the same way.

    The other question is of the same type, and yes/no where this one is, as long as there is another: so that a coin is
    right as often as it can be. The question ids alone decide which it is.
    """
    first: dict[tuple[str | None, ...], dict[str, Record]] = {}
    for record in sorted(records, key=lambda own: (own.trial.repeat, own.trial.variant.text)):
        trial = record.trial
        dataset = questions[trial.question_id].dataset
        system = (dataset, trial.model, trial.method, trial.retriever, trial.variant.variation)
        if record.answer is not None:
            first.setdefault(system, {}).setdefault(trial.question_id, record)
    return [
        replace(answered[id], answer=answered[other].answer)
        for answered in first.values()
        for id, other in pair_up([questions[id] for id in answered]).items()
    ]


def pair_up(questions: Iterable[Question]) -> dict[str, str]:
    """Question id → id of another question; empty for a single question."""
    ordered = sorted(questions, key=lambda question: (seed_from("another question", question.id), question.id))
    alike: dict[tuple[object, bool], list[str]] = {}
    for question in ordered:
        alike.setdefault(_kind(question), []).append(question.id)
    every = [question.id for question in ordered]
    pairs = _next_of(every)
    for ids in alike.values():
        pairs |= _next_of(ids)
    return pairs


def _next_of(ids: Sequence[str]) -> dict[str, str]:
    return dict(zip(ids, [*ids[1:], ids[0]], strict=True)) if len(ids) > 1 else {}


def _kind(question: Question) -> tuple[object, bool]:
    golds = {gold.strip().casefold() for gold in question.answers}
    return question.tags.get("type"), golds <= YES_NO


def _more_is_better(metric: Metric) -> frozenset[str]:
    """Its numbers that have a baseline: what reads more than an answer is no comparison with what is accepted."""
    if isinstance(metric, JudgingMetric) or not isinstance(metric, TraceChoosingMetric) or metric.reads_trace:
        return frozenset()
    numbers = metric.numbers if isinstance(metric, DeclaredMetric) else ()
    return frozenset(measure.name for measure in numbers if measure.higher_is_better)
